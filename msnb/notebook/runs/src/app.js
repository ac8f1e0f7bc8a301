// The frame: filter, target and colour above; parallel coordinates; the table, and next to it or instead of it a
// scatter plot, the importance, and the comparison. All of them show the selection of the store.
import { isDark } from "../../src/theme.js";
import { escape } from "../../src/escape.js";
import { keysOf } from "../../src/keys.js";
import { setHtml } from "../../src/set_html.js";
import { RunActions } from "./run_actions.js";
import { Axis } from "./axes.js";
import { chooser } from "./chooser.js";
import { chosenColour, colouring } from "./colours.js";
import { Compare } from "./compare.js";
import { initialView } from "./initial_view.js";
import { Head } from "./head.js";
import { SelectionBroadcast } from "./selection_broadcast.js";
import { Importance } from "./importance.js";
import { Parallel } from "./parallel.js";
import { Scatter } from "./scatter.js";
import { MOST_CHOSEN, Store } from "./store.js";
import frame from "../../src/frame.css";
import own from "./style.css";
import table from "./table.css";
import views from "./views.css";
import { Table, told } from "./table.js";

const TABS = [
  ["table", "Runs"],
  ["scatter", "Scatter"],
  ["importance", "What matters"],
  ["compare", "Compare"],
];
const KEYS = [
  ["Space", "tick the run, to compare it"],
  ["s n h", "star, note, hide the run"],
  ["Delete", "delete it, after a question"],
];
const WIDE = 1150;
const BETWEEN = 120; // milliseconds
const PRINTS = ["beforeprint", "afterprint"];
let serial = 0;

export class App {
  constructor(el, data, host) {
    this.host = host;
    this.id = `msnb-runs-${++serial}`;
    this.undo = [];
    this.sorted = -Infinity; // when the table was drawn last
    this.store = new Store(data);
    this.kept = { ...host?.state }; // what the reader has chosen; the rest follows the runs
    this.heal();
    if (host?.chosen) this.store.chosen = host.chosen.map((n) => this.store.at.get(n)).filter((i) => i !== undefined);
    this.ticked = this.chosenNames().join("\0");
    this.root = document.createElement("section");
    this.root.className = "msnb-view msnb-runs";
    this.root.setAttribute("aria-label", `Runs in ${data.folder}`);
    this.root.innerHTML = `<style>${frame}${own}${table}${views}</style>${this.frame()}`;
    el.append(this.root);
    const find = (selector) => this.root.querySelector(selector);
    this.panel = find(".panel");
    this.filter = find("input.filter");
    this.live = find(".said");
    this.head = new Head(this);
    this.acts = new RunActions(this, find(".acts"));
    this.linked = new SelectionBroadcast(this);
    this.parallel = new Parallel(this);
    find(".upper").append(this.parallel.element);
    this.views = {
      table: new Table(this),
      scatter: new Scatter(this),
      importance: new Importance(this),
      compare: new Compare(this),
    };
    find(".main").append(this.views.table.element);
    this.listen();
    keysOf(this.root, KEYS);
    this.watchTheme();
    this.store.on((what) => this.touch(what));
    this.dirty = new Set(["data"]);
    this.draw();
    this.sizes = new ResizeObserver(() => {
      if (Math.abs(this.root.clientWidth - (this.wide ?? 0)) > 8) this.touch("look");
    });
    this.sizes.observe(this.root);
    this.root.dataset.ready = "";
  }
  frame() {
    return (
      `<header><p class="title"></p><div class="tools"><input type="search" class="filter" ` +
      `placeholder="words, lr>0.01, optimizer=adam, is:starred, -failed, /pattern/" aria-label="Filter runs" ` +
      `spellcheck="false"><span class="soft hits" aria-live="polite"></span>` +
      `<button data-do="clear" hidden>show all</button></div>` +
      `<div class="tools"><label>target <select data-set="target"></select></label>` +
      `<label>colour <select data-set="colour"></select></label>` +
      `<button data-do="columns" aria-expanded="false">columns</button>` +
      `<button data-do="hidden" aria-pressed="false" hidden></button>` +
      `<span class="legend" aria-hidden="true"></span>` +
      `<button data-do="keys" aria-label="keys" title="what the keys do">?</button></div></header>` +
      `<p class="soft nothing"></p><div class="choose" hidden></div><div class="upper"></div>` +
      `<div class="acts" role="region" aria-label="Ticked runs"></div>` +
      `<div class="lower"><div class="main"></div><div class="side"><div class="tabs" role="tablist">${TABS.map(
        ([key, title]) =>
          `<button role="tab" id="${this.id}-${key}" data-tab="${key}" aria-controls="${this.id}-panel" ` +
          `aria-selected="false" tabindex="-1">${title}</button>`,
      ).join("")}</div><div class="panel" role="tabpanel" id="${this.id}-panel"></div></div></div>` +
      `<p class="said unseen" role="status"></p><ul class="notes soft"></ul>`
    );
  }
  // Restore the reader's choices as far as the runs allow; the rest gets its initial state.
  heal() {
    const first = initialView(this.store),
      there = (key) => this.store.of.has(key);
    this.state = { ...first, ...this.kept };
    for (const kind of ["axes", "columns"]) {
      const left = (this.state[kind] ?? []).filter(there);
      this.state[kind] = left.length ? left : first[kind];
    }
    for (const kind of ["target", "colour", "x", "y"]) if (!there(this.state[kind])) this.state[kind] = first[kind];
  }
  get axes() {
    return this.state.axes;
  }
  get columns() {
    return this.state.columns;
  }
  get target() {
    return this.store.of.get(this.state.target);
  }
  set(changes) {
    Object.assign(this.state, changes);
    Object.assign(this.kept, changes);
    this.host?.keep({ kept: this.kept });
  }
  setAxes(keys) {
    this.set({ axes: keys });
    this.touch("look");
  }
  setColour(key) {
    this.set({ colour: key });
    this.touch("look");
  }
  colourOf(rank) {
    return this.forced ?? chosenColour(rank, this.theme);
  }
  options(now, fits = () => true) {
    const groups = { run: "run", setting: "settings", data: "data", metric: "metrics" };
    return Object.entries(groups)
      .map(([group, title]) => {
        const of = this.store.columns.filter((c) => c.group === group && fits(c) && (c.varies || c.key === now));
        return of.length
          ? `<optgroup label="${title}">${of
              .map(
                (c) => `<option value="${escape(c.key)}"${c.key === now ? " selected" : ""}>${escape(c.name)}</option>`,
              )
              .join("")}</optgroup>`
          : "";
      })
      .join("");
  }
  waiting() {
    return this.host
      ? "No run here yet: what msnb.record, Model.train(record=...), SummaryCollector or msnb.tune write into this " +
          "folder appears by itself."
      : "No run was here when this page was made.";
  }
  nothing() {
    return this.store.count ? "No run is left: take a brush or a word of the filter away." : "";
  }
  say(text) {
    this.live.textContent = text;
  }

  // ---------------------------------------------------------------- input
  listen() {
    const { root, store } = this;
    this.filter.addEventListener("input", () => store.setFilter(this.filter.value));
    root.addEventListener("change", (e) => {
      const kind = e.target.dataset.set;
      if (!kind) return;
      this.set({ [kind]: e.target.value });
      if (kind === "target") this.set({ y: e.target.value, colour: e.target.value });
      this.touch("look");
    });
    root.addEventListener("click", (e) => {
      const tab = e.target.closest("[data-tab]"),
        act = e.target.closest("[data-do]")?.dataset.do;
      if (tab) this.show(tab.dataset.tab, {}, true);
      else if (act === "clear") {
        this.filter.value = "";
        store.clear();
        this.filter.focus();
      } else if (act === "columns") this.openChooser();
      else if (act === "hidden") store.setShowHidden(!store.showHidden);
      else if (act === "compare") this.show("compare", {}, true);
      else this.acts.act(act);
    });
    root.querySelector(".tabs").addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      e.stopPropagation();
      const keys = TABS.map(([key]) => key).filter((key) => key !== "table" || !this.isWide),
        k = keys.indexOf(this.tab);
      this.show(keys[(k + step + keys.length) % keys.length], {}, true);
    });
    for (const type of ["keydown", "keyup", "keypress"])
      root.addEventListener(type, (e) => {
        if (e.target.matches?.("input, select, textarea")) e.stopPropagation();
      }); // the notebook has shortcuts of its own
  }
  choose(i) {
    if (!this.store.choose(i)) this.say(`Only ${MOST_CHOSEN} runs can be ticked.`);
    else {
      const { store } = this;
      this.say(
        `${store.names[i]} ${store.chosen.includes(i) ? "ticked" : "no longer ticked"}: ${store.chosen.length} are`,
      );
    }
  }
  chosenNames() {
    return this.store.chosen.map((i) => this.store.names[i]);
  }
  // Send the ticked runs to the kernel.
  tellTicked() {
    const names = this.chosenNames(),
      text = names.join("\0");
    if (text !== this.ticked) this.host?.keep({ chosen: names });
    this.ticked = text;
  }
  openChooser() {
    const box = this.root.querySelector(".choose"),
      button = this.root.querySelector("header [data-do=columns]");
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", String(!box.hidden));
    box.replaceChildren();
    if (box.hidden) return void button.focus();
    const made = chooser(this, (kind, keys) => {
      this.set({ [kind]: keys });
      this.touch("look");
    });
    box.append(made);
    made.querySelector("input").focus();
  }
  show(tab, changes = {}, focus = false) {
    this.set(tab === "table" ? { ...changes, tab } : { ...changes, tab, side: tab });
    this.draw("side");
    if (focus) this.root.querySelector(`[data-tab="${this.tab}"]`)?.focus();
  }
  get tab() {
    return this.isWide ? this.state.side : this.state.tab;
  }

  // ---------------------------------------------------------------- drawing
  touch(what) {
    if (what === "chosen" || what === "data") this.tellTicked();
    this.dirty.add(what);
    this.asked ??= requestAnimationFrame(() => this.draw());
  }
  draw(more) {
    this.asked = undefined;
    if (more) this.dirty.add(more);
    const dirty = this.dirty,
      has = (...kinds) => kinds.some((kind) => dirty.has(kind)),
      all = has("data", "look"),
      { table, scatter, importance, compare } = this.views;
    this.dirty = new Set();
    if (all) this.settle(dirty);
    if (has("data")) {
      importance.forget();
      compare.forget();
    }
    if (all) {
      this.parallel.settle();
      table.settle();
    } else {
      if (has("shown")) this.parallel.drawAll();
      if (has("shown", "picked")) {
        this.parallel.drawPicked();
        this.sortSoon();
      } else if (has("chosen")) {
        table.rows();
        this.linked.tell();
      } else if (has("hover")) table.light();
      if (has("shown", "chosen", "hover")) this.parallel.drawOver();
    }
    if (all || has("shown", "picked", "chosen")) {
      this.head.draw();
      this.acts.draw();
    }
    const fresh = all || has("side");
    if (fresh) this.place();
    if (this.tab === "scatter") {
      if (fresh) scatter.settle();
      else {
        if (has("shown")) scatter.drawAll();
        if (has("shown", "picked")) scatter.draw();
        if (has("shown", "chosen", "hover")) scatter.drawOver();
      }
    } else if (this.tab === "importance" && (fresh || has("shown", "picked"))) importance.settle();
    else if (this.tab === "compare" && (fresh || has("chosen"))) compare.settle();
    if (has("hover") && this.store.hover >= 0 && this.root.contains(document.activeElement))
      this.say(told(this.store, this.store.hover, [this.target, ...table.columns()].filter(Boolean)));
  }
  // Draw the table at once, or, while a brush moves, a few times per second: its texts take half of the time of a
  // frame.
  sortSoon() {
    const wait = this.sorted + BETWEEN - performance.now(),
      sort = () => {
        this.sorting = undefined;
        this.views.table.sort();
        this.linked.tell();
        this.sorted = performance.now();
      };
    if (!(wait > 0)) sort();
    else this.sorting ??= setTimeout(sort, wait);
  }
  settle(dirty) {
    if (dirty.has("data")) this.heal();
    this.wide = this.root.clientWidth;
    this.isWide = this.wide >= WIDE;
    this.root.toggleAttribute("data-wide", this.isWide);
    this.root.toggleAttribute("data-empty", !this.store.count);
    setHtml(this.root.querySelector(".nothing"), this.store.count ? "" : this.waiting());
    this.paint = this.colours();
    const colour = this.store.of.get(this.state.colour);
    this.colouring = colouring(colour && new Axis(colour), this.theme, this.forced && this.paint.ink);
    const select = (kind, fits) =>
      setHtml(this.root.querySelector(`[data-set=${kind}]`), this.options(this.state[kind], fits));
    select("target", (c) => c.group === "metric" && c.kind === "number");
    select("colour", (c) => c.kind !== "words" || c.words.length <= 30);
    this.head.legend(colour);
    this.root.querySelector(".notes").innerHTML = this.store.data.notes.map((n) => `<li>${escape(n)}</li>`).join("");
  }
  // Place the table beside the other views, or among them if the page is narrow.
  place() {
    const { table } = this.views,
      main = this.root.querySelector(".main");
    if (!this.isWide && this.state.tab !== "table" && this.tab !== this.state.side) this.state.side = this.state.tab;
    for (const button of this.root.querySelectorAll("[data-tab]")) {
      const on = button.dataset.tab === this.tab;
      button.hidden = this.isWide && button.dataset.tab === "table";
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `${this.id}-${this.tab}`);
    const { element } = this.views[this.tab];
    if (this.panel.firstChild !== element) this.panel.replaceChildren(element);
    if (this.isWide && table.element.parentElement !== main) main.append(table.element);
    if (this.tab === "table" || this.isWide) table.rows();
  }
  colours() {
    const style = getComputedStyle(this.root),
      of = (name) => style.getPropertyValue(`--${name}`).trim();
    return {
      ...Object.fromEntries(["bg", "ink", "soft", "line", "accent"].map((name) => [name, of(name)])),
      font: `11px ${style.fontFamily}`,
      head: `600 12px ${style.fontFamily}`,
    };
  }
  watchTheme() {
    const media = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("(forced-colors: active)")],
      set = () => {
        this.theme = isDark(this.root) ? "dark" : "light";
        this.root.dataset.theme = this.theme;
        this.forced = media[1].matches ? "Highlight" : null;
        if (this.dirty) this.touch("look");
      },
      watch = new MutationObserver(set);
    watch.observe(document.body, { attributes: true });
    watch.observe(document.documentElement, { attributes: true });
    const paper = () => {
      set();
      this.draw("look"); // at once: what is printed is what stands there now
    };
    for (const one of media) one.addEventListener("change", set);
    for (const type of PRINTS) addEventListener(type, paper);
    this.undo.push(() => PRINTS.forEach((type) => removeEventListener(type, paper)));
    this.undo.push(() => watch.disconnect(), ...media.map((one) => () => one.removeEventListener("change", set)));
    set();
  }
  adopt(other) {
    this.filter.value = other.store.filter;
    this.store.adopt(other.store);
  }
  // Take the runs that the kernel has sent.
  take(data) {
    this.store.take(data);
  }
  destroy() {
    cancelAnimationFrame(this.asked);
    clearTimeout(this.sorting);
    for (const act of this.undo) act();
    this.sizes?.disconnect();
    this.root.remove();
  }
}
