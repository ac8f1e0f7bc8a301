// The widget: toolbar, panes, panel, theme. State that the kernel should know crosses in two traits, `selected` and `reveal`.
import css from "./style.css";
import { decode } from "./payload.js";
import { Pane } from "./pane.js";
import { Search } from "./search.js";
import { schemes, painter } from "./colour.js";
import { nodePanel, scopePanel, graphPanel } from "./panel.js";
import { escape } from "./draw.js";

const DARK_HOSTS = "[data-jp-theme-light='false'], .vscode-dark, .vscode-high-contrast, [data-theme='dark'], .theme-dark, [theme='dark']";

const icon = d => `<svg width="14" height="14" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true"><path d="${d}"/></svg>`;

export class App {
  // host: {bytes(), onBytes(callback), set(name, value), get(name), on(name, callback)}
  constructor(el, host) {
    this.host = host; this.off = new AbortController();
    const root = this.root = document.createElement("div");
    root.className = "msnb-graph"; root.setAttribute("role", "group"); root.setAttribute("aria-label", "graph view");
    root.innerHTML = `<style>${css}</style><div class="bar"><div class="find"><input type="search" placeholder="search  (op, scope, line)" aria-label="search nodes" autocomplete="off" spellcheck="false"><span class="hits"></span><div class="results" role="listbox" hidden></div></div>` +
      `<select class="colour" aria-label="colour by" title="colour by"></select><span class="gap"></span><span class="busy" role="status"></span>` +
      `<span class="group"><button data-do="out" title="zoom out (−)" aria-label="zoom out">−</button><button data-do="fit" title="fit (0)">fit</button><button data-do="in" title="zoom in (+)" aria-label="zoom in">+</button></span>` +
      `<span class="group"><button data-do="open" title="open every scope">expand</button><button data-do="close" title="close every scope">collapse</button></span>` +
      `<span class="group"><button data-do="panel" title="show or hide the panel" aria-label="panel" aria-pressed="true">${icon("M2 3h12v10H2zM10 3v10")}</button><button data-do="full" title="full screen" aria-label="full screen">${icon("M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4")}</button></span></div>` +
      `<div class="body"><div class="panel" tabindex="-1" aria-label="details"></div></div><div class="said" aria-live="polite"></div>`;
    el.append(root);
    const $ = q => root.querySelector(q);
    this.input = $(".find input"); this.hits = $(".hits"); this.results = $(".results"); this.colour = $(".colour"); this.busy = $(".busy");
    this.body = $(".body"); this.panel = $(".panel"); this.said = $(".said");
    this.readTheme(); this.wire();
    this.width = new ResizeObserver(() => root.classList.toggle("narrow", root.clientWidth < 640)); this.width.observe(root);
    root.classList.toggle("narrow", root.clientWidth < 640);
    this.load();
    host.onBytes(() => this.load());
    host.on("selected", () => { const id = this.host.get("selected"); if (this.pane && id !== this.pane.selected) this.pane.select(id, { quiet: true, show: id >= 0 }); this.details(); });
  }
  destroy() { this.dead = true; this.off.abort(); this.width.disconnect(); this.pane?.destroy(); this.pane = null; this.data = null; this.root.remove(); }

  async load() {
    const turn = this.turn = (this.turn || 0) + 1;
    try {
      const data = await decode(this.host.bytes());
      if (this.dead || turn !== this.turn) return;
      const before = this.pane; this.data = data; this.show(data.stages[0], before);
    } catch (fault) {
      this.panel.hidden = true; const note = document.createElement("div"); note.className = "fault";
      note.textContent = `This graph cannot be drawn here (${fault.message || fault}).`; this.body.replaceChildren(note); throw fault;
    }
  }
  show(stage, before) {
    const kept = before && [before.k, before.x, before.y, openPaths(before)];
    before?.destroy();
    this.stage = stage; this.search = new Search(stage); this.schemes = schemes(stage); this.painters = new Map();
    const chosen = this.schemes.some(s => s.key === this.colour.value) ? this.colour.value : this.schemes.some(s => s.key === this.data.colour) ? this.data.colour : "kind";
    this.colour.innerHTML = this.schemes.map(s => `<option value="${s.key}">colour: ${escape(s.label)}</option>`).join(""); this.colour.value = chosen;
    this.pane = new Pane(this.body, stage, this.face());
    this.body.append(this.panel);
    if (kept) this.restore(kept);
    const id = this.host.get("selected"); if (id >= 0 && id < stage.n) this.pane.select(id, { quiet: true, show: true });
    this.details(); this.root.dataset.ready = "1"; this.root.dataset.nodes = stage.n;
  }
  // a graph that is replaced (live edit) keeps what was open and where one was looking
  restore([k, x, y, open]) {
    const { stage, layout } = this.pane;
    for (const s of stage.scopes) { const was = open.get(stage.chain(s.id).map(c => c.name).join("/") + "/" + s.name); if (was !== undefined && s.kind > 1) layout.set(s, was); }
    this.pane.relayout(); Object.assign(this.pane, { k, x, y }); this.pane.moved(true);
  }
  face() {
    return {
      paint: stage => this.painterOf(stage), theme: () => this.colours, foundIn: pane => this.standIns(pane),
      onSelect: id => { this.details(); this.host.set("selected", id); this.reveal(id); },
      keys: () => this.root.classList.contains("keys"), onBusy: text => { this.busy.textContent = text; }, say: text => { this.said.textContent = text; },
      onEscape: () => { if (this.input.value) { this.input.value = ""; this.lookUp(); } else this.pane.select(-1); }, onFind: () => this.input.focus(),
    };
  }
  painterOf(stage) {
    const key = this.colour.value + this.dark; let made = this.painters.get(key);
    if (!made) this.painters.set(key, made = painter(stage, this.schemes.find(s => s.key === this.colour.value), this.dark));
    return made;
  }

  // ---- theme: the notebook's, the page's, or what the reader's system asks for
  readTheme() {
    const root = this.root, host = root.closest("[data-jp-theme-light], .vscode-light, .vscode-dark, .vscode-high-contrast, [data-theme], [theme]") || document.body.closest("[data-jp-theme-light], .vscode-dark, .vscode-light, [data-theme], [theme]");
    const own = root.parentElement?.closest("[data-msnb-theme]")?.dataset.msnbTheme;
    const known = host && (host.matches(DARK_HOSTS) || host.matches("[data-jp-theme-light='true'], .vscode-light, [data-theme='light'], [theme='light']"));
    this.dark = own ? own === "dark" : known ? host.matches(DARK_HOSTS) : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = this.dark ? "dark" : "light";
    const style = getComputedStyle(root), read = name => style.getPropertyValue(name).trim();
    this.colours = { scope: read("--scope"), line: read("--scope-line"), edge: read("--edge"), ink: read("--ink"), focus: read("--focus") };
  }
  themed() { const was = this.dark; this.readTheme(); if (was !== this.dark) { this.painters = new Map(); this.pane?.restyle(); this.details(); } }

  wire() {
    const signal = this.off.signal, on = (target, type, act) => target.addEventListener(type, act, { signal });
    this.themes = new MutationObserver(() => this.themed());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class", "data-theme", "theme"] });
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "data-theme", "theme"] });
    signal.addEventListener("abort", () => this.themes.disconnect());
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.themed());
    // a ring around the graph helps who uses the keyboard and disturbs who does not
    on(document, "keydown", e => { if (e.key === "Tab") this.root.classList.add("keys"); });
    on(this.root, "pointerdown", () => this.root.classList.remove("keys"));
    on(this.colour, "change", () => { this.pane.restyle(); this.details(); });
    on(this.root, "click", e => { const act = e.target.closest("[data-do]")?.dataset.do; if (act) this.act(act); });
    on(this.panel, "click", e => {
      const at = e.target.closest("[data-go], [data-reveal], [data-find]"); if (!at) return;
      if (at.dataset.go) { const id = +at.dataset.go; this.pane.select(id, { show: true }); }
      else if (at.dataset.reveal) this.reveal(+at.dataset.reveal, true);
      else { this.input.value = at.dataset.find; this.lookUp(); this.input.focus(); }
    });
    on(this.input, "input", () => { clearTimeout(this.typing); this.typing = setTimeout(() => this.lookUp(), 90); });
    on(this.input, "keydown", e => this.keyInSearch(e));
    on(this.input, "focus", () => { if (this.matches?.length) this.results.hidden = false; });
    on(this.input, "blur", () => setTimeout(() => { this.results.hidden = true; }, 150));
    on(this.results, "pointerdown", e => { const at = e.target.closest("[data-hit]"); if (at) { e.preventDefault(); this.goTo(+at.dataset.hit); } });
    on(document, "fullscreenchange", () => setTimeout(() => this.pane?.resized(), 50));
    for (const type of ["keydown", "keyup", "keypress"]) on(this.root, type, e => { if (e.target.matches?.("input, select")) e.stopPropagation(); }); // the notebook has shortcuts of its own
  }
  act(name) {
    const { pane } = this; if (!pane) return;
    if (name === "in") pane.zoom(1.25); else if (name === "out") pane.zoom(.8); else if (name === "fit") pane.fit();
    else if (name === "open") pane.setAll(true); else if (name === "close") pane.setAll(false);
    else if (name === "panel") { this.panel.hidden = !this.panel.hidden; this.root.querySelector("[data-do='panel']").setAttribute("aria-pressed", String(!this.panel.hidden)); }
    else if (name === "full") { if (document.fullscreenElement) document.exitFullscreen(); else this.root.requestFullscreen?.().catch(() => pane.tell("full screen is not allowed here")); }
  }

  // ---- search
  lookUp() {
    const query = this.input.value; this.matches = this.search.find(query); this.at = -1;
    this.hits.textContent = this.matches ? `${this.matches.length}` : "";
    const first = (this.matches || []).slice(0, 50);
    this.results.innerHTML = first.map((id, i) => `<div role="option" data-hit="${i}">${escape(this.stage.op(id))}<small>%${id} ${escape(this.stage.path(id).split("/").slice(-2).join("/"))}</small></div>`).join("") + (this.matches?.length > 50 ? `<div><small>and ${this.matches.length - 50} more</small></div>` : "") + (this.matches && !this.matches.length ? "<div><small>nothing found</small></div>" : "");
    this.results.hidden = !this.matches || document.activeElement !== this.input && this.root.getRootNode().activeElement !== this.input;
    this.pane.refresh();
  }
  standIns(pane) { return this.matches ? new Set(this.matches.map(id => pane.layout.standIn(id))) : null; }
  keyInSearch(e) {
    const count = Math.min(50, this.matches?.length || 0), move = { ArrowDown: 1, ArrowUp: -1, Enter: e.shiftKey ? -1 : 1 }[e.key];
    if (e.key === "Escape") { this.input.value = ""; this.lookUp(); this.pane.svg.focus(); }
    else if (move) {
      if (e.key === "Enter" && this.typing) { clearTimeout(this.typing); this.typing = 0; if (this.matches === undefined || this.at < 0) this.lookUp(); }
      if (!count && !this.matches?.length) return;
      this.goTo((this.at + move + Math.min(50, this.matches.length)) % Math.min(50, this.matches.length));
    } else return;
    e.preventDefault();
  }
  goTo(at) {
    this.at = at; const id = this.matches[at]; if (id === undefined) return;
    [...this.results.children].forEach((div, i) => div.setAttribute("aria-selected", String(i === at))); this.results.children[at]?.scrollIntoView({ block: "nearest" });
    this.hits.textContent = `${at + 1} / ${this.matches.length}`; this.pane.select(id, { show: true });
    this.said.textContent = `${this.stage.op(id)}, ${at + 1} of ${this.matches.length}`;
  }

  details() {
    if (!this.pane) return;
    const id = this.pane.selected, { stage } = this, scheme = this.schemes.find(s => s.key === this.colour.value);
    this.panel.innerHTML = id < 0 ? graphPanel(stage, this.painterOf(stage), scheme) : stage.isScope(id) ? scopePanel(stage, id, this.schemes) : nodePanel(stage, id, this.schemes);
    this.panel.scrollTop = 0;
  }
  // tells the notebook's extension, where there is one, to show the line
  reveal(id, asked = false) {
    const source = id >= 0 && id < this.stage.n ? this.stage.sourceOf(id) : null; if (!source) return;
    window.dispatchEvent(new CustomEvent("msnb:reveal", { detail: { file: source[0], line: source[1], cell: source[4] || null, asked } }));
  }
}

function openPaths(pane) {
  const { stage, layout } = pane;
  return new Map(stage.scopes.map(s => [stage.chain(s.id).map(c => c.name).join("/") + "/" + s.name, layout.open[s.i] === 1]));
}
