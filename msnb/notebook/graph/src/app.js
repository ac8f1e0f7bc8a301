// The widget: toolbar, panes, panel, theme. State that the kernel should know crosses in two traits, `selected` and
// `reveal`.
import css from "./style.css";
import { isDark } from "../../src/theme.js";
import { decode, unpack } from "./payload.js";
import { Pane } from "./pane.js";
import { Search } from "./search.js";
import { schemes, census, painter, differencePainter, hue } from "./colour.js";
import { CodePane } from "./code.js";
import { asText, asDot, asJson, asSvg, asPng, toClipboard, download } from "./copy.js";
import { nodePanel, scopePanel, argumentPanel, graphPanel, ramp } from "./panel.js";
import { escape } from "../../src/escape.js";

const SOURCE = "(source)"; // no stage is called that
const icon = (d) =>
  `<svg width="14" height="14" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" ` +
  `aria-hidden="true"><path d="${d}"/></svg>`;

export class App {
  // host: {bytes(), onBytes(callback), set(name, value), get(name), on(name, callback)}
  constructor(el, host) {
    this.host = host;
    this.off = new AbortController();
    this.panes = [];
    this.painters = new Map();
    this.schemesOf = new Map();
    this.searches = new Map();
    const root = (this.root = document.createElement("div"));
    root.className = "msnb-graph";
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "graph view");
    root.innerHTML =
      `<style>${css}</style><div class="bar"><div class="find"><input type="search" placeholder="search" ` +
      `title="words of an operator, scope, Parameter or line; op:, scope:, dtype:, line:, param:" ` +
      `aria-label="search nodes" autocomplete="off" spellcheck="false"><span class="hits"></span>` +
      `<div class="results" role="listbox" hidden></div></div>` +
      `<select class="which" aria-label="stage" title="stage of the program" hidden></select>` +
      `<select class="beside" aria-label="compare with" title="another stage beside it" hidden></select>` +
      `<select class="colour" aria-label="colour by" title="colour by"></select><select class="types" ` +
      `aria-label="filter by operator type" title="show only nodes of one type"></select><span class="gap"></span>` +
      `<span class="busy" role="status"></span>` +
      `<span class="group"><button data-do="out" title="zoom out (−)" aria-label="zoom out">−</button>` +
      `<button data-do="fit" title="fit (0)">fit</button><button data-do="in" title="zoom in (+)" ` +
      `aria-label="zoom in">+</button></span>` +
      `<span class="group"><button data-do="open" title="open every scope">expand</button><button data-do="close" ` +
      `title="close every scope">collapse</button></span>` +
      `<select class="copy" aria-label="copy or save the graph" title="copy or save"><option value="">` +
      `copy</option><option value="text">as text IR</option><option value="dot">as dot</option>` +
      `<option value="svg">as SVG</option><option value="json">as JSON</option><option value="png">` +
      `save PNG</option></select>` +
      `<span class="group"><button data-do="code" title="show or hide the source" aria-label="source" ` +
      `aria-pressed="false" hidden>${icon("M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4")}</button><button data-do="panel" ` +
      `title="show or hide the panel" aria-label="panel" aria-pressed="true">${icon("M2 3h12v10H2zM10 3v10")}` +
      `</button><button data-do="full" title="full screen" aria-label="full screen">` +
      `${icon("M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4")}</button></span></div>` +
      `<div class="body"><div class="panel" tabindex="-1" aria-label="details"></div></div><div class="said" ` +
      `aria-live="polite"></div>`;
    el.append(root);
    const $ = (q) => root.querySelector(q);
    this.input = $(".find input");
    this.hits = $(".hits");
    this.results = $(".results");
    this.colour = $(".colour");
    this.busy = $(".busy");
    this.copyBox = $(".copy");
    this.stageBox = $(".which");
    this.otherBox = $(".beside");
    this.types = $(".types");
    this.body = $(".body");
    this.panel = $(".panel");
    this.said = $(".said");
    this.readTheme();
    this.wire();
    this.width = new ResizeObserver(() => root.classList.toggle("narrow", root.clientWidth < 640));
    this.width.observe(root);
    root.classList.toggle("narrow", root.clientWidth < 640);
    this.ready = this.load();
    host.onBytes(() => this.load());
    host.on("columns", () => this.readColumns());
    host.on("colour", () => {
      this.wish = host.get("colour");
      this.offerColours();
    });
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
    this.code?.destroy();
    this.panes = [];
    this.active = this.data = null;
    this.root.remove();
  }

  async load(bytes = this.host.bytes()) {
    const turn = (this.turn = (this.turn || 0) + 1);
    try {
      const data = await decode(bytes);
      if (this.dead || turn !== this.turn) return;
      this.data = data;
      for (const stage of data.stages) stage.own = this.host.get("columns") ? {} : stage.columns;
      await this.readColumns(false);
      if (this.dead || turn !== this.turn) return;
      this.offerStages();
      this.show();
      // what is saved leaves repeats out; a kernel that is there has them all
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
  // values laid over the graph come apart from it: {"stage/key": packed column}
  async readColumns(draw = true) {
    const packed = this.host.get("columns"),
      turn = (this.dressing = (this.dressing || 0) + 1);
    if (packed !== this.packed) {
      const found = await Promise.all(Object.values(packed || {}).map(unpack));
      if (this.dead || turn !== this.dressing) return;
      this.packed = packed;
      this.columns = found;
    }
    this.dress(draw);
  }
  setColumn(key, column, { stage = this.data?.stages[0].name, colour = true } = {}) {
    const known = this.columns || [],
      others = known.filter((c) => c.key !== key || c.stage !== stage);
    if (column && column.values.length !== this.data?.stages.find((s) => s.name === stage)?.total)
      throw new Error(`column ${key} should have one value per node`);
    if (!column) delete this.data.stages.find((s) => s.name === stage)?.own[key];
    this.columns = column ? [...others, { ...column, key, stage }] : others;
    if (colour && column && others.length === known.length) this.wish = key;
    this.dress(true);
  }
  dress(draw) {
    for (const stage of this.data?.stages || []) {
      stage.columns = { ...stage.own };
      for (const c of this.columns || [])
        if (c.stage === stage.name && c.values.length === stage.total) stage.columns[c.key] = c;
    }
    this.schemesOf = new Map();
    this.painters = new Map();
    if (draw && this.active) this.offerColours();
  }
  offerColours(other) {
    if (!this.active) return;
    const options = schemes(this.panes[0].stage),
      has = (key) => options.some((s) => s.key === key);
    if (this.diff) options.unshift({ key: "difference", label: "difference" });
    const chosen =
      other ||
      (has(this.wish)
        ? this.wish
        : has(this.colour.value)
          ? this.colour.value
          : has(this.data.colour)
            ? this.data.colour
            : "kind");
    this.colour.innerHTML = options
      .map((s) => `<option value="${escape(s.key)}">colour: ${escape(s.label)}</option>`)
      .join("");
    this.colour.value = chosen;
    this.recolour();
  }
  recolour() {
    for (const p of this.panes) p.restyle();
    this.code?.draw();
    this.key();
    if (this.active) this.details(true);
  }
  // the scale stays in sight while something is selected
  key() {
    for (const p of this.panes) {
      const made = this.painterOf(p.stage),
        scheme = this.scheme(p.stage);
      p.el.querySelector(".legend")?.remove();
      if (!made.ramp) continue;
      p.el.insertAdjacentHTML(
        "beforeend",
        `<div class="legend" aria-hidden="true"><b>${escape(scheme.label)}</b>${ramp(made)}</div>`,
      );
    }
  }
  // stages that are here, and those that the kernel would have to make
  offerStages() {
    const here = this.data.stages.map((s) => s.name),
      offered = this.data.offered || [],
      wish = this.host.get("wanted"),
      files = Object.keys(this.data.files || {}).length;
    const all = [
      ...here.filter((n) => !offered.includes(n)),
      ...offered.filter((n) => here.includes(n) || this.host.live),
    ]; // in the order of the compiler
    const option = (value, text) => `<option value="${escape(value)}">${escape(text)}</option>`,
      named = (n) => (here.includes(n) ? n : `${n} …`);
    const keep = (select, fallback) => {
      const was = select.value;
      return here.includes(was) || was === "" ? was : fallback;
    };
    const kept = !this.started && this.host.kept;
    if (kept && kept.code !== this.codeShown) this.codeShown = kept.code;
    const left =
      kept && here.includes(kept.stage)
        ? kept.stage
        : wish && here.includes(wish) && this.wishFor === "stage"
          ? wish
          : keep(this.stageBox, "") || this.data.shown || here[0];
    const right =
      kept && (here.includes(kept.other) || !kept.other)
        ? kept.other
        : wish && here.includes(wish) && this.wishFor === "other"
          ? wish
          : this.started
            ? keep(this.otherBox, "")
            : this.data.beside || "";
    this.stageBox.innerHTML = all.map((n) => option(n, named(n))).join("");
    this.otherBox.innerHTML =
      option("", "single view") +
      (files ? option(SOURCE, "beside: source") : "") +
      all.map((n) => option(n, `beside: ${named(n)}`)).join("");
    this.stageBox.value = here.includes(left) ? left : here[0];
    this.otherBox.value = right;
    this.started = true;
    this.wishFor = null;
    this.stageBox.hidden = all.length < 2;
    this.otherBox.hidden = all.length < 2 && !files;
    this.root.querySelector("[data-do='code']").hidden = !files;
  }
  // a stage that is not here yet is asked of the kernel, which answers with a new payload
  choose(which) {
    const name = this[which].value;
    if (name === SOURCE) {
      this[which].value = "";
      if (!this.codeShown) this.toggleCode();
      if (this.diff) this.show();
      return;
    }
    if (name && !this.data.stages.some((s) => s.name === name)) {
      this.wishFor = which === "stageBox" ? "stage" : "other";
      this.busy.textContent = `making ${name} …`;
      this[which].value = which === "stageBox" ? this.stage.name : "";
      this.host.set("wanted", name);
      return;
    }
    this.show();
  }
  show() {
    this.busy.textContent = "";
    const find = (name) => this.data.stages.find((s) => s.name === name),
      first = find(this.stageBox.value) || this.data.stages[0],
      second = this.otherBox.value && this.otherBox.value !== first.name ? find(this.otherBox.value) : null;
    const kept = this.panes.length ? this.keep().panes : this.host.kept?.panes || [];
    for (const p of this.panes) p.destroy();
    this.code?.destroy();
    this.panes = [];
    this.painters = new Map();
    this.searches = new Map();
    this.schemesOf = new Map();
    this.diff = second ? this.between(first, second) : null;
    const stages = second ? [first, second] : [first],
      chosen = second && !this.wasDouble && this.diff ? "difference" : "";
    this.wasDouble = !!second;
    this.wish ??= this.host.get("colour");
    for (const stage of stages) {
      const pane = new Pane(this.body, stage, this.face(stage, second ? stage.name : "")),
        was = kept.find((k) => k[0] === stage.name);
      this.panes.push(pane);
      if (was) this.restore(pane, was, kept.length === stages.length);
    }
    this.active = this.panes[0];
    this.offerColours(chosen);
    if (this.codeShown) this.openCode();
    this.body.append(this.panel);
    const id = this.host.get("selected");
    if (id >= 0 && id < first.n) this.active.select(id, { quiet: true, show: !this.active.kept });
    if (id >= 0 && id < first.n) this.mark(id);
    this.offerTypes();
    if (this.input.value || this.type) this.lookUp();
    this.details();
    this.root.dataset.ready = "1";
    this.root.dataset.nodes = first.total;
    this.root.dataset.drawn = first.n;
    this.root.classList.toggle("double", !!second);
  }
  // what the reader has opened and where they look
  keep() {
    return {
      panes: this.panes.map((p) => [p.stage.name, p.k, p.x, p.y, openPaths(p), p.w && !p.whole()]),
      stage: this.stageBox.value,
      other: this.otherBox.value,
      colour: this.colour.value,
      code: this.codeShown,
    };
  }
  between(first, second) {
    const a = this.data.stages.indexOf(first),
      b = this.data.stages.indexOf(second),
      found = this.data.diffs.find((d) => (d.a === a && d.b === b) || (d.a === b && d.b === a));
    if (!found) return null;
    const turned = found.a === b,
      side = (i) => found.sides[turned ? 1 - i : i];
    return new Map([
      [first, { ...side(0), second: turned }],
      [second, { ...side(1), second: !turned }],
    ]);
  }
  // a graph that is replaced (live edit, another stage) keeps what was open and where one was looking
  restore(pane, [, k, x, y, open, far], stay) {
    const { stage, layout } = pane;
    for (const s of stage.scopes) {
      const was = open.get(pathOf(stage, s));
      if (was !== undefined && s.kind > 1) layout.set(s, was);
    }
    pane.relayout();
    if (stay && far) Object.assign(pane, { k, x, y, kept: true });
  }
  tell(text) {
    this.busy.textContent = text;
    this.busy.title = text;
    this.said.textContent = text;
    this.host.set("wanted", "");
  }
  get pane() {
    return this.active;
  }
  get stage() {
    return this.active?.stage;
  }
  face(stage, heading) {
    return {
      heading,
      paint: (of) => this.painterOf(of),
      theme: () => {
        if (!this.colours.ink && this.root.isConnected) this.readTheme();
        return this.colours;
      }, // made before it was on the page: nothing could be read then
      foundIn: (pane) => this.standIns(pane),
      onSelect: (id, pane) => {
        this.activate(pane);
        this.details();
        this.mark(id);
        if (pane === this.panes[0]) this.host.set("selected", id);
        this.reveal(id);
      },
      onActive: (pane) => this.activate(pane),
      onScene: (pane) => {
        if (this.panes.includes(pane)) {
          this.key();
          if (this.active === pane && pane.selected < 0) this.details(true);
        }
      },
      keys: () => this.root.classList.contains("keys"),
      onBusy: (text) => {
        this.busy.textContent = text;
      },
      say: (text) => {
        this.said.textContent = text;
      },
      onEscape: () => {
        if (this.matches || this.input.value) {
          this.input.value = this.types.value = "";
          this.lookUp();
        } else this.pane.select(-1);
      },
      onFind: () => this.input.focus(),
    };
  }
  activate(pane) {
    if (this.active !== pane) {
      this.active = pane;
      this.details();
    }
  }
  // the same thing in the pane beside, and in the source
  mark(id) {
    const { stage } = this,
      ids = id < 0 ? [] : stage.isScope(id) ? [...stage.below(stage.scope(id))].slice(0, 500) : [id];
    if (this.diff)
      for (const other of this.panes)
        if (other !== this.active) other.showMates(ids.flatMap((i) => this.diff.get(stage).links.get(i) || []));
    if (this.diff && this.active.mates) this.active.showMates([]);
    const source = id >= 0 && !stage.isScope(id) ? stage.sourceOf(id) : null;
    this.code?.mark(source);
  }
  schemes(stage = this.stage) {
    let made = this.schemesOf.get(stage);
    if (!made) this.schemesOf.set(stage, (made = schemes(stage)));
    return made;
  }
  scheme(stage = this.stage) {
    return (
      this.schemes(stage).find((s) => s.key === this.colour.value) ||
      (this.colour.value === "difference" ? { key: "difference", label: "difference" } : this.schemes(stage)[0])
    );
  }
  painterOf(stage) {
    const key = `${this.data.stages.indexOf(stage)} ${this.colour.value} ${this.dark}`,
      scene = this.panes.find((p) => p.stage === stage)?.scene;
    let made = this.painters.get(key);
    if (made && !(made.ramp && made.scene !== scene)) return made;
    const drawn = scene ? scene.boxes.filter((b) => !b.open && !stage.isArgument(b.id)).map((b) => b.id) : [];
    this.painters.set(
      key,
      (made =
        this.colour.value === "difference" && this.diff
          ? differencePainter(stage, this.diff.get(stage), this.opposite(stage), this.dark)
          : painter(stage, this.scheme(stage), this.dark, drawn)),
    );
    const [fill, line] = hue("plain", this.dark),
      own = { fill, line },
      { style, note } = made;
    made.scene = scene;
    made.style = (id) => (stage.isArgument(id) ? own : style(id));
    if (note) made.note = (id) => (stage.isArgument(id) ? "" : note(id));
    return made;
  }
  opposite(stage) {
    const other = this.panes.find((p) => p.stage !== stage)?.stage;
    return { n: other?.n || 0, diff: this.diff.get(other) };
  }
  offerTypes() {
    const was = this.types.value,
      option = (value, text) => `<option value="${escape(value)}">${escape(text)}</option>`;
    this.types.innerHTML =
      option("", "all types") +
      census(this.stage)
        .map(
          ([name, ops]) =>
            `<optgroup label="${escape(name)}">${
              ops.length > 1 ? option(`kind:${name}`, `all ${ops.reduce((a, o) => a + o[1], 0)}: ${name}`) : ""
            }${ops.map(([op, n]) => option(`op:${op}`, `${op} (${n})`)).join("")}</optgroup>`,
        )
        .join("");
    this.types.value = [...this.types.options].some((o) => o.value === was) ? was : "";
  }
  get type() {
    const at = this.types.value.indexOf(":");
    return at < 0 ? null : [this.types.value.slice(0, at), this.types.value.slice(at + 1)];
  }
  openCode() {
    const app = this;
    this.code = new CodePane(this.body, this.data.files, {
      get stage() {
        return app.panes[0].stage;
      },
      get scheme() {
        return app.scheme(app.panes[0].stage);
      },
      get dark() {
        return app.dark;
      },
      onLine: (ids, file, line) => {
        app.activate(app.panes[0]);
        app.matches = ids;
        app.at = -1;
        app.input.value = "";
        app.hits.textContent = `${ids.length}`;
        app.code.mark([file, line]);
        for (const p of app.panes) p.refresh();
        const first = app.panes[0],
          stand = first.layout.standIn(ids[0]),
          box = first.place(stand);
        if (box && !first.inSight(box)) first.centre(stand, 0);
      },
    });
    this.body.prepend(this.code.el);
    const id = this.panes[0].selected;
    if (id >= 0 && id < this.panes[0].stage.n) this.code.mark(this.panes[0].stage.sourceOf(id));
  }
  toggleCode() {
    this.codeShown = !this.codeShown;
    this.root.querySelector("[data-do='code']").setAttribute("aria-pressed", String(this.codeShown));
    if (this.codeShown) this.openCode();
    else {
      this.code.destroy();
      this.code = null;
    }
  }

  // ---- theme: the notebook's, the page's, or what the reader's system asks for
  readTheme() {
    const root = this.root;
    this.dark = isDark(root);
    root.dataset.theme = this.dark ? "dark" : "light";
    const style = getComputedStyle(root),
      read = (name) => style.getPropertyValue(name).trim();
    this.colours = {
      scope: read("--scope"),
      line: read("--scope-line"),
      edge: read("--edge"),
      ink: read("--ink"),
      soft: read("--soft"),
      bg: read("--bg"),
      focus: read("--focus"),
    };
  }
  themed() {
    const was = this.dark;
    this.readTheme();
    if (was !== this.dark) {
      this.painters = new Map();
      for (const p of this.panes) p.restyle();
      this.code?.draw();
      this.key();
      this.details(true);
    }
  }

  wire() {
    const signal = this.off.signal,
      on = (target, type, act) => target.addEventListener(type, act, { signal });
    this.themes = new MutationObserver(() => this.themed());
    this.themes.observe(document.body, {
      attributes: true,
      attributeFilter: ["data-jp-theme-light", "class", "data-theme", "theme"],
    });
    this.themes.observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["class", "data-theme", "theme"],
    });
    signal.addEventListener("abort", () => this.themes.disconnect());
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.themed());
    // the notebook's extension says where the cursor is; the nodes of that line light up
    on(window, "msnb:cursor", (e) => this.atCursor(e.detail || {}));
    // a ring around the graph helps who uses the keyboard and disturbs who does not
    on(document, "keydown", (e) => {
      if (e.key === "Tab") this.root.classList.add("keys");
    });
    on(this.root, "pointerdown", () => this.root.classList.remove("keys"));
    on(this.colour, "change", () => {
      this.wish = this.colour.value;
      this.host.set("colour", this.wish);
      this.recolour();
    });
    on(this.types, "change", () => {
      this.lookUp();
      this.results.hidden = true;
      this.said.textContent = this.matches ? `${this.matches.length} nodes` : "all nodes";
    });
    on(this.copyBox, "change", () => {
      const form = this.copyBox.value;
      this.copyBox.value = "";
      this.copy(form);
    });
    on(this.stageBox, "change", () => this.choose("stageBox"));
    on(this.otherBox, "change", () => this.choose("otherBox"));
    on(this.root, "click", (e) => {
      const act = e.target.closest("[data-do]")?.dataset.do;
      if (act) this.act(act);
    });
    on(this.panel, "click", (e) => {
      const at = e.target.closest("[data-go], [data-reveal], [data-find], [data-mate]");
      if (!at) return;
      if (at.dataset.mate) {
        const other = this.panes.find((p) => p !== this.active);
        this.active = other;
        other.select(+at.dataset.mate, { show: true });
        return;
      }
      if (at.dataset.go) {
        const id = +at.dataset.go;
        this.pane.select(id, { show: true });
      } else if (at.dataset.reveal) this.reveal(+at.dataset.reveal, true);
      else {
        this.input.value = at.dataset.find;
        this.lookUp();
        this.input.focus();
      }
    });
    on(this.input, "input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.lookUp(), 90);
    });
    on(this.input, "keydown", (e) => this.keyInSearch(e));
    on(this.input, "focus", () => {
      if (this.matches?.length) this.results.hidden = false;
    });
    on(this.input, "blur", () =>
      setTimeout(() => {
        this.results.hidden = true;
      }, 150),
    );
    on(this.results, "pointerdown", (e) => {
      const at = e.target.closest("[data-hit]");
      if (at) {
        e.preventDefault();
        this.goTo(+at.dataset.hit);
      }
    });
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
  act(name) {
    const { pane } = this;
    if (!pane) return;
    if (name === "in") pane.zoom(1.25);
    else if (name === "out") pane.zoom(0.8);
    else if (name === "fit") for (const p of this.panes) p.fit();
    else if (name === "open") for (const p of this.panes) p.setAll(true);
    else if (name === "close") for (const p of this.panes) p.setAll(false);
    else if (name === "code") this.toggleCode();
    else if (name === "panel") {
      this.panel.hidden = !this.panel.hidden;
      this.root.querySelector("[data-do='panel']").setAttribute("aria-pressed", String(!this.panel.hidden));
      this.details(true);
    } else if (name === "full") {
      if (document.fullscreenElement) document.exitFullscreen();
      else this.root.requestFullscreen?.().catch(() => pane.tell("full screen is not allowed here"));
    }
  }

  async copy(form) {
    const { pane, stage } = this;
    try {
      if (form === "png") {
        download(await asPng(asSvg(pane, this.colours)), `${stage.graph}.png`);
        pane.tell("saved as PNG");
        return;
      }
      // the kernel prints loops and branches as functions of their own; without one they are listed flat
      const text =
        form === "svg"
          ? asSvg(pane, this.colours)
          : form !== "json" && this.host.live
            ? await this.printed(form, stage.name)
            : { text: asText, dot: asDot, json: asJson }[form](stage);
      const done = await toClipboard(text, this.root);
      pane.tell(done ? `copied ${text.length.toLocaleString("en")} characters` : "copying is not allowed here");
      this.copied = text;
    } catch (fault) {
      pane.tell(fault.message);
    }
  }

  printed(form, stage) {
    return new Promise((done, fail) => {
      this.print = done;
      setTimeout(() => fail(new Error("the kernel is busy; try again when it is idle")), 4500);
      this.host.ask("print", { form, stage });
    });
  }
  // ---- search
  lookUp() {
    const query = this.input.value;
    this.matches = this.searchIn(this.stage).find(query, this.type);
    this.at = -1;
    this.hits.textContent = this.matches ? `${this.matches.length}` : "";
    const first = (this.matches || []).slice(0, 50);
    this.results.innerHTML =
      first
        .map(
          (id, i) =>
            `<div role="option" data-hit="${i}">${escape(this.stage.op(id))}<small>%${this.stage.number(id)} ` +
            `${escape(this.stage.path(id).split("/").slice(-2).join("/"))}</small></div>`,
        )
        .join("") +
      (this.matches?.length > 50 ? `<div><small>and ${this.matches.length - 50} more</small></div>` : "") +
      (this.matches && !this.matches.length ? "<div><small>nothing found</small></div>" : "");
    this.results.hidden =
      !this.matches || (document.activeElement !== this.input && this.root.getRootNode().activeElement !== this.input);
    for (const p of this.panes) p.refresh();
  }
  searchIn(stage) {
    let made = this.searches.get(stage);
    if (!made) this.searches.set(stage, (made = new Search(stage)));
    return made;
  }
  standIns(pane) {
    if (!this.matches) return null;
    const { matches } = this,
      ids =
        pane === this.active
          ? matches
          : this.input.value || this.type
            ? this.searchIn(pane.stage).find(this.input.value, this.type) || []
            : matches.flatMap((i) => this.diff?.get(this.stage)?.links.get(i) || []);
    return new Set(ids.map((id) => pane.layout.standIn(id)));
  }
  keyInSearch(e) {
    const count = Math.min(50, this.matches?.length || 0),
      move = { ArrowDown: 1, ArrowUp: -1, Enter: e.shiftKey ? -1 : 1 }[e.key];
    if (e.key === "Escape") {
      this.input.value = "";
      this.lookUp();
      this.pane.svg.focus();
    } else if (move) {
      if (e.key === "Enter" && this.typing) {
        clearTimeout(this.typing);
        this.typing = 0;
        if (this.matches === undefined || this.at < 0) this.lookUp();
      }
      if (!count && !this.matches?.length) return;
      this.goTo((this.at + move + Math.min(50, this.matches.length)) % Math.min(50, this.matches.length));
    } else return;
    e.preventDefault();
  }
  goTo(at) {
    this.at = at;
    const id = this.matches[at];
    if (id === undefined) return;
    [...this.results.children].forEach((div, i) => div.setAttribute("aria-selected", String(i === at)));
    this.results.children[at]?.scrollIntoView({ block: "nearest" });
    this.hits.textContent = `${at + 1} / ${this.matches.length}`;
    this.pane.select(id, { show: true });
    this.said.textContent = `${this.stage.op(id)}, ${at + 1} of ${this.matches.length}`;
  }

  details(stay = false) {
    if (!this.active) return;
    const id = this.active.selected,
      { stage } = this,
      all = this.schemes();
    this.panel.innerHTML =
      id < 0
        ? graphPanel(stage, this.painterOf(stage), this.scheme())
        : stage.isArgument(id)
          ? argumentPanel(stage, id)
          : stage.isScope(id)
            ? scopePanel(stage, id, all)
            : nodePanel(stage, id, all) + this.beside(id);
    this.root.classList.toggle("keyed", id < 0 && !this.panel.hidden);
    if (!stay) this.panel.scrollTop = 0;
  }
  // what became of a node in the stage beside, and what is different about it
  beside(id) {
    const side = this.diff?.get(this.stage);
    if (!side) return "";
    const other = this.panes.find((p) => p.stage !== this.stage).stage,
      ids = side.links.get(id) || [],
      own = this.stage.sigOf(id),
      state = side.state(id);
    if (!ids.length) return `<h4>${escape(other.name)}</h4><p>not there: ${side.second ? "added" : "removed"}</p>`;
    const list = ids
        .slice(0, 8)
        .map((i) => `<p><button class="link" data-mate="${i}">%${other.number(i)} ${escape(other.op(i))}</button></p>`)
        .join(""),
      changes = [];
    if (state === "changed") {
      const mate = other.sigOf(ids[0]),
        was = new Map(mate.attrs);
      for (const [k, v] of own.attrs) if (was.get(k) !== v) changes.push([k, v, was.has(k) ? was.get(k) : "–"]);
      if (own.outs.join() !== mate.outs.join()) changes.push(["output", own.outs.join(", "), mate.outs.join(", ")]);
      if (own.ins.join() !== mate.ins.join()) changes.push(["inputs", own.ins.join(", "), mate.ins.join(", ")]);
    }
    return (
      `<h4>${escape(other.name)}: ${state === "same" ? "matched" : state}</h4>${list}${
        ids.length > 8 ? `<p class="kind">and ${ids.length - 8} more</p>` : ""
      }` +
      (changes.length
        ? `<table>${changes
            .map(
              ([k, a, b]) =>
                `<tr><td>${escape(k)}</td><td>${escape(a)}<br><span class="kind">` +
                `there: ${escape(b)}</span></td></tr>`,
            )
            .join("")}</table>`
        : "")
    );
  }
  atCursor({ file, cell, line }) {
    if (!this.stage || !this.root.isConnected) return;
    const cells = this.host.get("cells") || {},
      label = file || Object.keys(cells).find((k) => cells[k] === cell);
    if (!label) return;
    const found = [];
    for (let i = 0; i < this.stage.n; i++) {
      const s = this.stage.sourceOf(i);
      if (s && s[0] === label && s[1] === line) found.push(i);
    }
    this.matches = found.length ? found : undefined;
    this.at = -1;
    this.input.value = "";
    this.results.hidden = true;
    this.hits.textContent = found.length ? `${found.length}` : "";
    this.code?.mark([label, line]);
    for (const p of this.panes) p.refresh();
    const first = found.length ? this.pane.place(this.pane.layout.standIn(found[0])) : null;
    if (first && !this.pane.inSight(first)) this.pane.centre(first.id, 0);
  }
  // tells the notebook's extension, where there is one, to show the line
  reveal(id, asked = false) {
    const source = id >= 0 && id < this.stage.n ? this.stage.sourceOf(id) : null;
    if (!source) return;
    window.dispatchEvent(
      new CustomEvent("msnb:reveal", {
        detail: { file: source[0], line: source[1], cell: this.host.get("cells")?.[source[0]] ?? null, asked },
      }),
    );
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
