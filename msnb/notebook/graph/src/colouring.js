// The colouring of boxes: columns of values, the choice of a scale, the theme.
import { isDark } from "../../src/theme.js";
import { escape } from "../../src/escape.js";
import { unpack } from "./payload.js";
import { schemes, painter, differencePainter, hue } from "./colour.js";
import { keys, ramp } from "./panel.js";

export class Colouring {
  constructor(app) {
    this.app = app;
    this.host = app.host;
    this.select = app.root.querySelector(".colour");
    this.forget();
    this.readTheme();
    this.wire();
  }
  wire() {
    const { app, host } = this,
      look = new MutationObserver(() => this.themed()),
      attributeFilter = ["class", "data-theme", "theme"];
    look.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", ...attributeFilter] });
    look.observe(document.documentElement, { attributes: true, attributeFilter });
    app.off.signal.addEventListener("abort", () => look.disconnect());
    app.on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.themed());
    app.on(this.select, "change", () => {
      this.wish = this.select.value;
      host.set("colour", this.wish);
      this.recolour();
    });
    host.on("columns", () => this.read());
    host.on("colour", () => {
      this.wish = host.get("colour");
      this.offer();
    });
  }
  forget() {
    this.painters = new Map();
    this.schemesOf = new Map();
  }

  // ---- columns
  // Overlays of the stages arrive separately: {"stage/key": packed column}
  async read(draw = true) {
    const packed = this.host.get("columns"),
      turn = (this.turn = (this.turn || 0) + 1);
    if (packed !== this.packed) {
      const found = await Promise.all(Object.values(packed || {}).map(unpack));
      if (this.app.dead || turn !== this.turn) return;
      this.packed = packed;
      this.columns = found;
    }
    this.dress(draw);
  }
  setColumn(key, column, { stage = this.app.data?.stages[0].name, colour = true } = {}) {
    const known = this.columns || [],
      others = known.filter((c) => c.key !== key || c.stage !== stage),
      on = this.app.data?.stages.find((s) => s.name === stage);
    if (column && column.values.length !== on?.total) throw new Error(`column ${key} should have one value per node`);
    if (!column) delete on?.own[key];
    this.columns = column ? [...others, { ...column, key, stage }] : others;
    if (colour && column && others.length === known.length) this.wish = key;
    this.dress(true);
  }
  dress(draw) {
    for (const stage of this.app.data?.stages || []) {
      stage.columns = { ...stage.own };
      for (const c of this.columns || [])
        if (c.stage === stage.name && c.values.length === stage.total) stage.columns[c.key] = c;
    }
    this.forget();
    if (draw) this.offer();
  }

  // ---- scales
  offer(other) {
    const { app, select } = this;
    if (!app.active) return;
    const options = schemes(app.panes[0].stage),
      has = (key) => options.some((s) => s.key === key);
    if (app.diff) options.unshift({ key: "difference", label: "difference" });
    const chosen = other || [this.wish, select.value, app.data.colour].find(has) || "kind";
    select.innerHTML = options
      .map((s) => `<option value="${escape(s.key)}">colour: ${escape(s.label)}</option>`)
      .join("");
    select.value = chosen;
    this.recolour();
  }
  recolour() {
    for (const p of this.app.panes) p.restyle();
    this.app.source.draw();
    this.key();
    if (this.app.active) this.app.details(true);
  }
  // The scale stays visible while an item is selected.
  key() {
    for (const p of this.app.panes) {
      const made = this.painterOf(p.stage),
        scheme = this.scheme(p.stage);
      p.el.querySelector(".legend")?.remove();
      const marks = scheme.key === "difference" && p === this.app.panes[0]; // one list says it of both panes
      if (made.ramp || marks)
        p.el.insertAdjacentHTML(
          "beforeend",
          `<div class="legend" aria-hidden="true"><b>${escape(scheme.label)}</b>` +
            `${made.ramp ? ramp(made) : keys(made.legend)}</div>`,
        );
    }
  }
  schemes(stage = this.app.stage) {
    let made = this.schemesOf.get(stage);
    if (!made) this.schemesOf.set(stage, (made = schemes(stage)));
    return made;
  }
  scheme(stage = this.app.stage) {
    const { value } = this.select;
    return (
      this.schemes(stage).find((s) => s.key === value) ||
      (value === "difference" ? { key: value, label: value } : this.schemes(stage)[0])
    );
  }
  painterOf(stage) {
    const { panes, data, diff } = this.app,
      { value } = this.select,
      key = `${data.stages.indexOf(stage)} ${value} ${this.dark}`,
      scene = panes.find((p) => p.stage === stage)?.scene;
    let made = this.painters.get(key);
    if (made && !(made.ramp && made.scene !== scene)) return made;
    const drawn = scene ? scene.boxes.filter((b) => !b.open && !stage.isArgument(b.id)).map((b) => b.id) : [],
      other = panes.find((p) => p.stage !== stage)?.stage;
    made =
      value === "difference" && diff
        ? differencePainter(stage, diff.get(stage), { n: other?.n || 0, diff: diff.get(other) }, this.dark)
        : painter(stage, this.scheme(stage), this.dark, drawn);
    this.painters.set(key, made);
    const [fill, line] = hue("plain", this.dark),
      own = { fill, line },
      { style, note } = made;
    made.scene = scene;
    const [red, edge] = hue("red", this.dark),
      failing = { fill: red, line: edge, sign: "✗ " };
    made.style = (id) => (stage.isArgument(id) ? own : stage.failing.has(id) ? failing : style(id));
    if (note) made.note = (id) => (stage.isArgument(id) ? "" : note(id));
    return made;
  }

  // ---- theme: of the notebook, the page, or the reader's system
  readTheme() {
    const { root } = this.app;
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
  // A view that was created outside the page could not read its colours.
  theme() {
    if (!this.colours.ink && this.app.root.isConnected) this.readTheme();
    return this.colours;
  }
  themed() {
    const was = this.dark;
    this.readTheme();
    if (was === this.dark) return;
    this.painters = new Map();
    this.recolour();
  }
}
