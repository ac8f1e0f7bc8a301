// The widget: panes side by side, panel, source. The kernel receives the state in two traits, `selected` and `reveal`.
import css from "./style.css";
import { roving } from "../../src/roving.js";
import { frame } from "./frame.js";
import { showKeys } from "./keys.js";
import { decode } from "./payload.js";
import { Pane } from "./pane.js";
import { StagePicker } from "./stage_picker.js";
import { Finder } from "./finder.js";
import { Colouring } from "./colouring.js";
import { copyLink } from "./links.js";
import { Strip } from "./strip.js";
import { Source } from "./source.js";
import { GraphExport } from "./export.js";
import { Values } from "./values.js";
import { Stepper } from "./stepper.js";
import { Changing } from "./intervene.js";
import { Weights } from "./weights.js";
import { findCounterpart } from "./correspondence.js";
import { between, differencePanel, firstDifferent } from "./difference.js";
import { nodePanel, scopePanel, argumentPanel, graphPanel } from "./panel.js";

const NARROW = 640, // pixels
  COMPACT = 1000,
  TIGHT = 890; // a narrower toolbar has two rows

export class App {
  // host: {bytes(), onBytes(callback), set(name, value), get(name), on(name, callback)}
  constructor(el, host) {
    this.host = host;
    this.off = new AbortController();
    this.on = (target, type, act) => target.addEventListener(type, act, { signal: this.off.signal });
    this.panes = [];
    const root = (this.root = document.createElement("div"));
    root.className = "msnb-graph";
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "graph view");
    root.innerHTML = `<style>${css}</style>${frame}`;
    el.append(root);
    const $ = (q) => root.querySelector(q);
    this.busy = $(".busy");
    this.body = $(".body");
    this.panel = $(".panel");
    this.said = $(".said");
    this.choice = new StagePicker(this);
    this.finder = new Finder(this);
    this.colouring = new Colouring(this);
    this.strip = new Strip(this);
    this.source = new Source(this);
    this.taking = new GraphExport(this);
    this.weights = new Weights(this);
    this.values = new Values(this);
    this.stepper = new Stepper(this);
    this.changing = new Changing(this);
    this.wire();
    this.width = new ResizeObserver(() => this.sized());
    this.width.observe(root);
    this.sized();
    this.ready = this.load();
    host.onBytes(() => this.load());
    host.on("selected", () => {
      const id = this.host.get("selected"),
        pane = this.panes[0];
      if (pane && id !== pane.selected) {
        pane.select(id, { quiet: true, show: id >= 0 });
        this.activate(pane);
        this.details();
      }
    });
  }
  destroy() {
    this.dead = true;
    this.off.abort();
    this.width.disconnect();
    for (const p of this.panes) p.destroy();
    this.source.close();
    this.panes = [];
    this.active = this.data = null;
    this.root.remove();
  }
  // narrow: the panel is below the graph; compact: it covers the graph while an item is selected
  sized() {
    const wide = this.root.clientWidth,
      wasNarrow = this.root.classList.contains("narrow");
    this.root.classList.toggle("narrow", wide < NARROW);
    if (wasNarrow !== wide < NARROW) this.source?.mark(this.source.pane?.at); // the marked line stays in sight
    this.root.classList.toggle("compact", wide >= NARROW && wide < COMPACT);
    this.root.classList.toggle("tight", wide < TIGHT);
    this.layPanel();
  }
  get compact() {
    return this.root.classList.contains("compact");
  }
  // Show or hide the panel: as chosen with the button, else depending on the available space.
  layPanel() {
    const shown = this.panelChosen ?? (!this.compact || (this.active?.selected ?? -1) >= 0);
    if (this.panel.hidden !== shown) return;
    this.panel.hidden = !shown;
    this.root.querySelector("[data-do='panel']").setAttribute("aria-pressed", String(shown));
  }
  showPanel(shown) {
    this.panelChosen = shown;
    this.layPanel();
  }
  get pane() {
    return this.active;
  }
  get stage() {
    return this.active?.stage;
  }

  // ---- stages and panes
  async load(bytes = this.host.bytes()) {
    const turn = (this.turn = (this.turn || 0) + 1);
    try {
      const data = await decode(bytes);
      if (this.dead || turn !== this.turn) return;
      this.data = data;
      for (const stage of data.stages) stage.own = this.host.get("columns") ? {} : stage.columns;
      await this.colouring.read(false);
      if (this.dead || turn !== this.turn) return;
      const kept = !this.started && this.host.kept;
      this.started = true;
      if (kept) this.source.shown = kept.code;
      this.choice.offer(kept);
      this.source.offer();
      this.show();
      // A saved view omits repeats; a live kernel has the complete graph.
      if (data.folded) this.host.ask?.("whole");
    } catch (fault) {
      this.panel.hidden = true;
      const note = document.createElement("div");
      note.className = "fault";
      note.textContent = `This graph cannot be drawn here (${fault.message || fault}).`;
      this.body.replaceChildren(note);
      throw fault;
    }
  }
  show() {
    this.busy.textContent = "";
    const stages = this.choice.stages(),
      [first, second] = stages;
    const kept = this.panes.length ? this.keep().panes : this.host.kept?.panes || [];
    const { stage: old, selected } = this.panes[0] || {};
    for (const p of this.panes) p.destroy();
    this.source.close();
    this.panes = [];
    this.active = null;
    // The listeners look for a pane and must not find one of the previous graph, so there is none now.
    if (old) this.host.set("selected", findCounterpart(this.data, old, selected, first));
    this.colouring.forget();
    this.diff = second ? between(this.data, first, second) : null;
    // A column that both graphs have, such as differences of values, was requested and is shown.
    const measured = stages.every((stage) => this.data.colour in (stage.columns || {}));
    const chosen = second && !this.wasDouble && this.diff && !measured ? "difference" : "";
    this.wasDouble = !!second;
    this.colouring.wish ??= this.host.get("colour");
    for (const stage of stages) {
      const pane = new Pane(this.body, stage, this.face(second ? stage.name : "")),
        was = kept.find((k) => k[0] === stage.name);
      this.panes.push(pane);
      if (was) this.restore(pane, was, kept.length === stages.length);
    }
    this.active = this.panes[0];
    this.colouring.offer(chosen);
    if (this.source.shown) this.source.open();
    this.body.append(this.panel);
    const id = this.host.get("selected");
    if (id >= 0 && id < first.ends) {
      this.active.select(id, { quiet: true, show: !this.active.kept });
      this.mark(id);
    } else if (first.problem) this.active.select(first.problem.id, { quiet: true, show: true });
    this.strip.draw();
    this.finder.renew();
    this.details();
    for (const button of this.root.querySelectorAll("[data-level]"))
      button.hidden = button.dataset.level > Math.max(...this.panes.map((p) => p.layout.levels));
    for (const settle of this.groups) settle();
    for (const p of this.panes) p.resized(); // before it is painted, not after
    this.root.dataset.ready = "1";
    this.root.dataset.nodes = first.total;
    this.root.dataset.drawn = first.n;
    this.root.classList.toggle("double", !!second);
    this.stepper.at = "";
    this.stepper.renew();
  }
  // Return the state of the view: open scopes, cameras, menus. Before the first drawing, the state it was created with.
  keep() {
    if (!this.started) return this.host.kept;
    return {
      // A pane without a size has not opened its scopes yet, so its successor starts from the beginning.
      panes: this.panes.filter((p) => p.w).map((p) => [p.stage.name, p.k, p.x, p.y, openPaths(p), !p.whole()]),
      stage: this.choice.stageBox.value,
      other: this.choice.otherBox.value,
      colour: this.colouring.select.value,
      code: this.source.shown,
    };
  }
  // A graph that replaces another (live edit, another stage) gets its open scopes and its camera.
  restore(pane, [, k, x, y, open, far], stay) {
    const { stage, layout } = pane;
    const isNew = (s) => !open.has(pathOf(stage, s));
    for (const s of stage.scopes) if (!isNew(s) && s.kind > 1) layout.set(s, open.get(pathOf(stage, s)));
    pane.isNew = isNew;
    pane.relayout();
    if (stay && far) Object.assign(pane, { k, x, y, kept: true });
  }
  // Of two networks side by side, neither opens a scope that the other one has closed.
  alignScopes(pane) {
    const other = this.panes.find((p) => p !== pane && p.w);
    if (!other || !this.diff || this.data.offered?.length || pane.isNew || other.isNew) return;
    for (const [here, there] of [
      [pane, openPaths(other)],
      [other, openPaths(pane)],
    ])
      for (const s of here.stage.scopes) if (there.get(pathOf(here.stage, s)) === false) here.layout.set(s, false);
    other.arrange();
  }
  // The interface of the widget that a pane uses.
  face(heading) {
    return {
      heading,
      paint: (of) => this.colouring.painterOf(of),
      theme: () => this.colouring.theme(),
      foundIn: (pane) => this.finder.standIns(pane),
      onSelect: (id, pane) => {
        this.activate(pane);
        this.details();
        this.mark(id);
        pane.uncover();
        if (pane === this.panes[0]) this.host.set("selected", id);
        this.source.reveal(id);
      },
      onActive: (pane) => this.activate(pane),
      onScene: (pane) => {
        if (this.panes.includes(pane)) {
          this.colouring.key();
          if (this.active === pane && pane.selected < 0) this.details(true);
        }
      },
      onOpened: (pane) => this.alignScopes(pane),
      covered: () => (this.compact && !this.panel.hidden ? this.panel.offsetWidth : 0), // pixels on the right
      keys: () => this.root.classList.contains("keys"),
      onBusy: (text) => {
        this.busy.textContent = text;
      },
      say: (text) => {
        this.said.textContent = text;
      },
      onEscape: () => {
        if (!this.finder.clear()) this.pane.select(-1);
      },
      onFind: () => this.finder.input.focus(),
      onHelp: () => showKeys(this.body, () => this.pane.svg.focus()),
      // The colours of a change concern all nodes, even if a search has selected the changed one.
      soft: () => this.finder.soft || !!this.changing.edit,
      // Stages of one program are not compared as two networks.
      differs: (stage) => (this.data.offered?.length ? -1 : firstDifferent(stage, this.diff?.get(stage))),
    };
  }
  activate(pane) {
    if (this.active !== pane) {
      this.active = pane;
      this.details();
    }
  }
  refresh() {
    for (const p of this.panes) p.refresh();
  }
  // Highlight the same item in the other pane and in the source.
  mark(id) {
    const { stage } = this,
      ids = id < 0 ? [] : stage.isScope(id) ? [...stage.below(stage.scope(id))].slice(0, 500) : [id];
    if (this.diff)
      for (const other of this.panes)
        if (other !== this.active) other.showMates(ids.flatMap((i) => this.diff.get(stage).links.get(i) || []));
    if (this.diff && this.active.mates) this.active.showMates([]);
    const source = id >= 0 && !stage.isScope(id) ? stage.sourceOf(id) : null;
    this.source.mark(source);
  }
  details(stay = false) {
    if (!this.active) return;
    const id = this.active.selected,
      { stage, colouring } = this,
      all = colouring.schemes();
    this.layPanel();
    this.panel.innerHTML =
      id < 0
        ? graphPanel(stage, colouring.painterOf(stage), colouring.scheme())
        : stage.isArgument(id)
          ? argumentPanel(stage, id)
          : stage.isScope(id)
            ? scopePanel(stage, id, all)
            : nodePanel(stage, id, all, this.host.live) + this.beside(id);
    this.values.draw();
    this.changing.draw();
    this.root.classList.toggle("keyed", id < 0 && !this.panel.hidden);
    this.links();
    if (!stay) this.panel.scrollTop = 0;
  }
  beside(id) {
    const side = this.diff?.get(this.stage);
    return side ? differencePanel(this.stage, id, side, this.panes.find((p) => p.stage !== this.stage).stage) : "";
  }

  // ---- input
  wire() {
    const { on } = this;
    // The focus ring is shown only to readers who use the keyboard.
    on(document, "keydown", (e) => {
      if (e.key === "Tab") this.root.classList.add("keys");
    });
    on(this.root, "pointerdown", () => this.root.classList.remove("keys"));
    on(this.root, "click", (e) => {
      const asked = e.target.closest("[data-do]")?.dataset;
      if (asked) this.act(asked.do, +asked.level);
    });
    // Each group of buttons is one Tab stop, and so are the links of the panel.
    const drawn = (buttons) => buttons.find((one) => !["in", "out"].includes(one.dataset.do));
    this.groups = [...this.root.querySelectorAll(".bar .group")].map((one) => roving(one, "button", { from: drawn }));
    this.links = roving(this.panel, "button");
    on(this.panel, "click", (e) =>
      this.follow(e.target.closest("[data-go], [data-reveal], [data-find], [data-mate], [data-link], [data-weight]")),
    );
    on(document, "fullscreenchange", () =>
      setTimeout(() => {
        for (const p of this.panes) p.resized();
      }, 50),
    );
    for (const type of ["keydown", "keyup", "keypress"])
      on(this.root, type, (e) => {
        if (e.target.matches?.("input, select")) e.stopPropagation();
      }); // the notebook has shortcuts of its own
  }
  // Follow a link of the panel.
  follow(link) {
    const { mate, go, reveal, find, link: named, weight } = link?.dataset || {};
    if (weight !== undefined) this.weights.ask(link);
    else if (named) copyLink(this, +named);
    else if (mate) {
      this.active = this.panes.find((p) => p !== this.active);
      this.active.select(+mate, { show: true });
    } else if (go) this.pane.select(+go, { show: true });
    else if (reveal) this.source.reveal(+reveal, true);
    else if (find !== undefined) this.finder.ask(find);
  }
  act(name, level) {
    const { pane } = this;
    if (!pane) return;
    if (name === "in") pane.zoom(1.25);
    else if (name === "out") pane.zoom(0.8);
    else if (name === "fit") for (const p of this.panes) p.fit();
    else if (name === "open") for (const p of this.panes) p.setLevel(Infinity);
    else if (name === "close") for (const p of this.panes) p.setLevel(0);
    else if (name === "level") for (const p of this.panes) p.setLevel(level);
    else if (name === "code") this.source.toggle();
    else if (name === "panel") {
      this.showPanel(this.panel.hidden);
      this.details(true);
    } else if (name === "full") {
      if (document.fullscreenElement) document.exitFullscreen();
      else this.root.requestFullscreen?.().catch(() => pane.tell("full screen is not allowed here"));
    }
  }
  // Show the text, and have a screen reader read it.
  announce(text) {
    this.pane.tell(text);
    this.said.textContent = text;
  }
  tell(text) {
    this.busy.textContent = text;
    this.busy.title = text;
    this.said.textContent = text;
    this.host.set("wanted", "");
    this.strip.draw();
  }
}

const pathOf = (stage, s) =>
  stage
    .chain(s.id)
    .map((c) => c.name)
    .join("/") +
  "/" +
  s.name;
function openPaths(pane) {
  return new Map(pane.stage.scopes.map((s) => [pathOf(pane.stage, s), pane.layout.open[s.i] === 1]));
}
