// The dashboard: its runs, tabs, settings of all charts, and the redraw.
import { escape } from "../../src/escape.js";
import { roving } from "../../src/roving.js";
import { isDark } from "../../src/theme.js";
import { NOTHING } from "./card.js";
import { colourOf, dashOf, paintOf } from "./colours.js";
import { Curve } from "./curve.js";
import { matcher } from "./filter.js";
import { Graphs } from "./graphs.js";
import { Histograms } from "./histograms.js";
import { Images } from "./images.js";
import { keysOfDashboard } from "./keys.js";
import { Legend } from "./legend.js";
import { Scalars } from "./scalars.js";
import frame from "../../src/frame.css";
import own from "./style.css";
import { Tensors } from "./tensors.js";
import { curvesOf, opened } from "./wire.js";

const RESOURCES = /^(system|resources?)\//;
const TABS = {
  scalars: ["Curves", (app, panel) => new Scalars(app, panel, (tag) => !RESOURCES.test(tag))],
  images: ["Images", (app, panel) => new Images(app, panel)],
  histograms: ["Histograms", (app, panel) => new Histograms(app, panel)],
  tensors: ["Tensors", (app, panel) => new Tensors(app, panel)],
  graphs: ["Graphs", (app, panel) => new Graphs(app, panel)],
  resources: ["Memory and CPU", (app, panel) => new Scalars(app, panel, (tag) => RESOURCES.test(tag))],
};
// host: {ask(message, act)} with a kernel, {graphModule()} the module of the graph view, {cells}
export class App {
  constructor(el, host) {
    this.host = host;
    this.cleanup = new AbortController();
    this.filter = "";
    this.smoothing = 0;
    this.axis = "step";
    this.log = false;
    this.outliers = true; // whether scales hold them
    this.lit = null; // the run that is pointed at
    this.hidden = new Set();
    this.limits = new Map();
    this.joined = new Set();
    this.zooms = new Map(); // tags of a chart -> its zooms
    this.large = new Set(); // of the charts that are large
    this.closed = new Set(); // groups
    this.dirty = new Set();
    this.runs = [];
    this.curves = [];
    this.images = new Map();
    this.histograms = new Map();
    this.tensors = new Map();
    this.graphs = [];
    this.root = document.createElement("div");
    this.root.className = "msnb-view msnb-dash";
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "dashboard of runs");
    this.root.innerHTML =
      `<style>${frame}${own}</style><header><div class="tabs"><span class="all" role="tablist"></span>` +
      `<span class="gap"></span>` +
      `<span class="state soft"></span>` +
      `<button type="button" data-do="keys" aria-label="keys" title="what the keys do">?</button></div>` +
      `<div class="runs" role="group" aria-label="runs"></div><div class="problems" role="status"></div>` +
      `</header><div class="panel" role="tabpanel"></div><p class="heard unseen" role="status" aria-live="polite"></p>`;
    el.append(this.root);
    this.listen();
  }
  destroy() {
    this.cleanup.abort();
    this.open?.close();
    this.root.remove();
  }

  listen() {
    const { signal } = this.cleanup,
      watch = new MutationObserver(() => this.theme()),
      wide = new ResizeObserver(() => {
        if (this.root.clientWidth !== this.width) {
          this.width = this.root.clientWidth;
          this.redrawAll();
        }
      });
    for (const one of [document.body, document.documentElement]) watch.observe(one, { attributes: true });
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"])
      matchMedia(query).addEventListener("change", () => this.theme(true), { signal });
    wide.observe(this.root);
    window.addEventListener("beforeprint", () => this.print(), { signal });
    window.addEventListener("afterprint", () => this.theme(true), { signal });
    signal.addEventListener("abort", () => (watch.disconnect(), wide.disconnect()));
    keysOfDashboard(this.root);
    const tabs = this.root.querySelector("[role=tablist]");
    this.legend = new Legend(this, this.root.querySelector(".runs"));
    tabs.addEventListener("click", (event) => this.choose(event.target.closest("[data-tab]")?.dataset.tab));
    tabs.addEventListener("keydown", (event) => {
      if (["ArrowLeft", "ArrowRight"].includes(event.key)) this.choose(document.activeElement.dataset.tab);
    });
    this.settleTabs = roving(tabs, "[data-tab]", {
      from: (all) => all.find((one) => one.dataset.tab === this.tab) ?? all[0],
    });
    tabs.addEventListener("focusin", (event) => this.choose(event.target.closest("[data-tab]")?.dataset.tab));
  }

  // ---------------------------------------------------------------- incoming data
  load(bytes) {
    const message = opened(bytes),
      { head } = message;
    this.runs = head.runs;
    this.waiting = head.waiting;
    this.curves = this.runs.map(() => new Map());
    for (const { run, tag, n, columns } of curvesOf(message, head.scalars))
      this.curves[run].set(tag, new Curve(columns, n));
    for (const kind of ["images", "histograms", "tensors"]) {
      this[kind] = new Map();
      this.take(kind, message);
    }
    this.graphs = [];
    this.takeGraphs(message);
    this.shown();
  }

  // Take the state of another view of the same widget: a notebook draws an output again when its cell is done.
  adopt(other) {
    for (const name of ["filter", "smoothing", "axis", "log", "outliers", "tab", "runs", "graphs", "waiting"])
      this[name] = other[name];
    for (const name of ["hidden", "joined", "large", "closed"]) this[name] = new Set(other[name]);
    for (const name of ["limits", "zooms", "images", "histograms", "tensors"]) this[name] = new Map(other[name]);
    this.curves = other.curves.map((all) => new Map([...all].map(([tag, curve]) => [tag, curve.copy()])));
    this.shown();
  }
  shown() {
    this.theme(true);
    this.head();
    this.refill(true);
    this.ready ??= new Promise((done) => {
      this.drew = done;
    });
  }

  news(bytes) {
    const message = opened(bytes),
      { head } = message;
    if (head.kind === "whole") return this.load(bytes);
    const before = this.tags.length + this.runs.length,
      kinds = this.kinds().join();
    this.runs = head.runs;
    while (this.curves.length < this.runs.length) this.curves.push(new Map());
    const touched = new Set();
    if (head.scalars)
      for (const { run, tag, n, columns } of curvesOf(message, head.scalars)) {
        const had = this.curves[run].get(tag);
        if (had) had.set(columns, n);
        else this.curves[run].set(tag, new Curve(columns, n));
        touched.add(tag);
      }
    if (head.more)
      for (const { run, tag, n, columns } of curvesOf(message, head.more)) {
        const had = this.curves[run].get(tag);
        if (had && had.n === n) had.append(columns, n);
        else this.stale = true; // something was missed: ask for all
        touched.add(tag);
      }
    for (const kind of ["images", "histograms", "tensors"]) if (head[kind]) this.take(kind, message);
    if (head.graphs) this.takeGraphs(message);
    this.head();
    const more = this.tags.length + this.runs.length !== before || kinds !== this.kinds().join();
    if (more || head[this.tab]) this.refill(more);
    for (const card of this.open?.cards?.values() ?? [])
      if (card.tags.some((tag) => touched.has(tag))) this.redraw(card);
    if (this.stale && this.host.ask) {
      this.stale = false;
      this.ask({ whole: true });
    }
  }

  take(kind, message) {
    for (const one of message.head[kind]) {
      const made = { ...one };
      if (kind === "histograms") made.counts = message.array(one.counts);
      else
        made.items = one.items.map((row) => {
          const [step, seconds, c, d, values] = row;
          return [step, seconds, c, d, values === null ? null : message.array(values)];
        });
      this[kind].set(`${one.run}\0${one.tag}`, made);
    }
  }

  // Replace the graphs of the runs in the message.
  takeGraphs(message) {
    const came = message.head.graphs.map((one) => ({ ...one, payload: message.array(one.payload).slice() })),
      of = new Set(came.map(({ run }) => run));
    this.graphs = [...this.graphs.filter(({ run }) => !of.has(run)), ...came];
  }

  ask(message, act) {
    this.host.ask?.(message, act);
  }

  // ---------------------------------------------------------------- questions of charts
  get tags() {
    return [...new Set(this.curves.flatMap((one) => [...one.keys()]))];
  }
  // [key, values] of a kind that are visible, sorted by tag, and the number of such values of all runs
  valuesOf(kind) {
    const fits = matcher(this.filter) ?? (() => true),
      all = [...this[kind]].filter(([, { run }]) => !this.hidden.has(this.runs[run].id)),
      order = new Map([...new Set(all.map(([, { tag }]) => tag))].map((tag, i) => [tag, i])),
      shown = all.filter(([, { tag }]) => fits(tag));
    shown.sort(([, a], [, b]) => order.get(a.tag) - order.get(b.tag) || a.run - b.run);
    return { shown, all: all.length };
  }
  curve(run, tag) {
    return this.curves[run].get(tag);
  }
  colour(run) {
    return this.forced ? this.paint.ink : colourOf(run, this.dark);
  }
  dash(run) {
    return dashOf(run, this.forced);
  }
  named(run) {
    if (this.runs.length < 2) return "";
    const { name } = this.runs[run],
      dot = `<i class="dot" style="background:${this.colour(run)}"></i>`;
    return ` <span class="soft who" title="${escape(name)}">${dot} ${escape(name)}</span>`;
  }
  setAxis(axis) {
    this.axis = axis;
    for (const zooms of this.zooms.values()) zooms.length = 0;
  }
  say(words) {
    this.root.querySelector(".heard").textContent = words;
  }

  redraw(card) {
    card.stale = true;
    this.dirty.add(card);
    this.frame ||= requestAnimationFrame(() => this.flush());
  }
  redrawAll() {
    for (const card of [...(this.open?.cards?.values() ?? []), ...(this.open?.figures?.values() ?? [])])
      this.redraw(card);
  }
  // Draw everything for printing, on white.
  print() {
    this.theme(true);
    const all = [...this.dirty],
      seen = all.map((card) => card.visible);
    for (const card of all) card.visible = true;
    this.flush();
    all.forEach((card, i) => (card.visible = seen[i]));
  }
  gone(card) {
    this.dirty.delete(card);
  }
  flush() {
    this.frame = 0;
    if (!this.painted && this.root.isConnected) this.theme(true); // no colour is known where the view was made apart
    const seen = [...this.dirty].filter((card) => card.visible);
    for (const card of seen) card.furnish?.();
    for (const card of seen) card.measure?.(); // all before one is drawn: the browser arranges the page once
    for (const card of seen) {
      this.dirty.delete(card);
      card.draw();
    }
    if (this.root.isConnected && !this.root.dataset.ready && !this.open?.waiting) {
      this.root.dataset.ready = "1";
      this.drew?.();
    }
  }

  // ---------------------------------------------------------------- frame
  kinds() {
    const tags = this.tags,
      there = {
        scalars: tags.some((tag) => !RESOURCES.test(tag)),
        images: this.images.size,
        histograms: this.histograms.size,
        tensors: this.tensors.size,
        graphs: this.graphs.length && this.host.graphModule,
        resources: tags.some((tag) => RESOURCES.test(tag)),
      };
    return Object.keys(TABS).filter((name) => there[name]);
  }

  head() {
    const kinds = this.kinds(),
      list = this.root.querySelector("[role=tablist]"),
      had = [...list.children].map((one) => one.dataset.tab).join();
    if (had !== kinds.join()) {
      list.innerHTML = kinds
        .map((name) => `<button type="button" role="tab" data-tab="${name}">${TABS[name][0]}</button>`)
        .join("");
      this.settleTabs();
    }
    const live = this.runs.filter(({ state }) => state === "running").length,
      words =
        this.runs.length === 1
          ? this.runs[0].state
          : this.runs.length
            ? `${this.runs.length} runs${live ? `, ${live} running` : ""}`
            : "no run yet",
      state = this.root.querySelector(".state");
    state.textContent = words;
    state.classList.toggle("live", live > 0);
    state.classList.toggle("bad", this.runs.length === 1 && words.includes(",")); // as in "finished, loss is NaN"
    this.root.querySelector(".problems").innerHTML = this.runs
      .flatMap(({ name, problems }) => problems.map((text) => `<p>${escape(`${name}: ${text}`)}</p>`))
      .slice(0, 5)
      .join("");
    this.legend.draw();
  }

  light(id) {
    if (id === this.lit) return;
    this.lit = id;
    this.redrawAll();
  }

  choose(name) {
    if (name && name !== this.tab) {
      this.tab = name;
      this.refill(true);
    }
  }

  // Draw the open tab; `anew` if tabs or their contents changed, and not only values.
  refill(anew = false) {
    const kinds = this.kinds(),
      panel = this.root.querySelector(".panel");
    if (!kinds.includes(this.tab)) this.tab = kinds[0];
    for (const one of this.root.querySelectorAll("[data-tab]")) {
      const on = one.dataset.tab === this.tab;
      one.setAttribute("aria-selected", on);
      one.tabIndex = on ? 0 : -1;
    }
    if (!this.tab) {
      const words =
        (!this.runs.length && this.waiting) || "Nothing was recorded here yet; what comes appears by itself.";
      panel.innerHTML = `<p class="soft">${escape(words)}</p>`;
      this.redraw(NOTHING);
      return;
    }
    if (this.opened !== this.tab) {
      this.open?.close();
      panel.replaceChildren();
      panel.oninput = null;
      this.opened = this.tab;
      panel.setAttribute("aria-label", TABS[this.tab][0]);
      this.open = TABS[this.tab][1](this, panel);
      this.redraw(NOTHING);
    } else if (anew || this.tab !== "scalars") this.open.fill();
    this.redrawAll();
  }

  theme(always = false) {
    const dark = isDark(this.root),
      forced = matchMedia("(forced-colors: active)").matches;
    if (!always && dark === this.dark) return;
    this.dark = dark;
    this.forced = forced;
    this.root.dataset.theme = dark ? "dark" : "light";
    this.paint = paintOf(this.root);
    this.painted = this.root.isConnected;
    if (this.runs.length) this.legend.draw(true);
    this.redrawAll();
  }
}
