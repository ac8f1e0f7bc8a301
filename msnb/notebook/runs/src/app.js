// The frame: filter, target and colour above; parallel coordinates; the table, and beside or instead of it a scatter,
// what matters, and the comparison. All of them show the one selection of the store.
import { isDark } from "../../src/theme.js";
import { escape } from "../../src/escape.js";
import { keysOf } from "../../src/keys.js";
import { Axis } from "./axes.js";
import { chooser } from "./chooser.js";
import { chosenColour, colouring } from "./colours.js";
import { Compare } from "./compare.js";
import { runs } from "./format.js";
import { Importance } from "./importance.js";
import { Parallel } from "./parallel.js";
import { Scatter } from "./scatter.js";
import { MOST_CHOSEN, Store } from "./store.js";
import css from "./style.css";
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
const AXES = 8;
let serial = 0;

export class App {
  constructor(el, data, host) {
    this.host = host;
    this.id = `msnb-runs-${++serial}`;
    this.undo = [];
    this.store = new Store(data);
    this.state = { ...this.first(), ...(host?.state ?? {}) };
    this.heal();
    if (host?.chosen) this.store.chosen = host.chosen.map((n) => this.store.at.get(n)).filter((i) => i !== undefined);
    this.root = document.createElement("section");
    this.root.className = "msnb-runs";
    this.root.setAttribute("aria-label", `Runs in ${data.folder}`);
    this.root.innerHTML = `<style>${css}</style>${this.frame()}`;
    el.append(this.root);
    const find = (selector) => this.root.querySelector(selector);
    this.panel = find(".panel");
    this.filter = find("input.filter");
    this.live = find(".said");
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
      `<div class="choose" hidden></div><div class="upper"></div>` +
      `<div class="acts" role="region" aria-label="Ticked runs"></div>` +
      `<div class="lower"><div class="main"></div><div class="side"><div class="tabs" role="tablist">${TABS.map(
        ([key, title]) =>
          `<button role="tab" id="${this.id}-${key}" data-tab="${key}" aria-controls="${this.id}-panel" ` +
          `aria-selected="false" tabindex="-1">${title}</button>`,
      ).join("")}</div><div class="panel" role="tabpanel" id="${this.id}-panel"></div></div></div>` +
      `<p class="said unseen" role="status"></p><ul class="notes soft"></ul>`
    );
  }
  // what is shown at first: what differs between the runs, and the metric that they are judged by
  first() {
    const { columns } = this.store,
      few = (c) => c.kind !== "words" || c.words.length <= 30,
      of = (...groups) =>
        columns.filter((c) => groups.includes(c.group) && c.varies && (c.kind !== "words" || c.words.length)),
      settings = of("setting", "data"),
      metrics = of("metric"),
      target = metrics.find((c) => c.name === this.store.data.target) ?? metrics[0],
      others = metrics.filter((c) => c !== target),
      ends = target ? [target] : [];
    const keys = (list) => list.map((c) => c.key);
    return {
      target: target?.key ?? "",
      colour: target?.key ?? "",
      axes: keys([...settings.filter(few).slice(0, AXES), ...others.slice(0, settings.length > 5 ? 0 : 1), ...ends]),
      columns: [
        "run:state",
        ...keys([...ends, ...others.slice(0, 2), ...settings.slice(0, 8)]),
        "run:duration",
        "run:started",
      ],
      x: keys(settings.filter((c) => c.kind === "number"))[0] ?? keys(settings)[0] ?? "run:started",
      y: target?.key ?? "run:duration",
      tab: "table",
      side: "scatter",
      by: "run:started",
      down: true,
    };
  }
  // what the state names and the runs have no more is as it was at first
  heal() {
    const first = this.first(),
      there = (key) => this.store.of.has(key);
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
    this.host?.keep({ kept: this.state });
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
  nothing() {
    return this.store.count ? "No run is left: take a brush or a word of the filter away." : "No runs yet.";
  }
  say(text) {
    this.live.textContent = text;
  }

  // ---------------------------------------------------------------- what the reader does
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
      else if (act === "none") store.chooseNone();
      else if (act === "compare") this.show("compare", {}, true);
      else if (act === "star") this.mark(store.chosen, { star: !store.chosen.every((i) => store.star[i]) });
      else if (act === "hide") this.mark(store.chosen, { hidden: !store.chosen.every((i) => store.hidden[i]) });
      else if (act === "note") this.askNote(store.chosen);
      else if (act === "delete") this.askDelete(store.chosen);
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
      this.host?.keep({ chosen: store.chosen.map((at) => store.names[at]) });
    }
  }
  mark(which, marks) {
    const { store, host } = this;
    if (!host) return this.say("Marks are kept by the kernel: run this cell first.");
    if (!which.length) return;
    const all = [...which];
    for (const i of all) store.mark(i, marks);
    host.ask({ mark: all.map((i) => store.names[i]), as: marks }).then((told) => this.complain(told));
  }
  complain(told) {
    const list = this.root.querySelector(".notes");
    list.querySelector(".problem")?.remove();
    if (told?.problem) list.insertAdjacentHTML("afterbegin", `<li class="problem warn">${escape(told.problem)}</li>`);
  }
  question(html, submit) {
    const before = document.activeElement,
      acts = this.root.querySelector(".acts");
    this.asking = true;
    acts.innerHTML = html;
    const form = acts.querySelector("form"),
      end = (again) => {
        this.asking = false;
        this.drawActs();
        if (again && before?.isConnected) before.focus();
      };
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      submit(form);
      end(true);
    });
    form.addEventListener("keydown", (e) => {
      e.stopPropagation();
      if (e.key === "Escape") end(true);
    });
    form.querySelector("[data-end]").addEventListener("click", () => end(true));
    form.querySelector("[data-first]").focus();
  }
  askNote(which) {
    if (!this.host || !which.length) return this.mark(which, {});
    const all = [...which];
    this.question(
      `<form><label>note on <bdi>${escape(this.named(all))}</bdi> <input data-first maxlength="2000" ` +
        `value="${escape(this.store.notes[all[0]])}"></label> <button>keep</button> ` +
        `<button type="button" data-end>leave</button></form>`,
      (form) => this.mark(all, { note: form.querySelector("input").value.trim() }),
    );
  }
  askDelete(which) {
    if (!this.host || !which.length) return this.mark(which, {});
    const names = which.map((i) => this.store.names[i]);
    this.question(
      `<form role="alertdialog" aria-label="Delete runs"><span>Delete ` +
        `<b><bdi>${escape(this.named(which))}</bdi></b> with all files, checkpoints included? ` +
        `This cannot be undone.</span> <button class="danger">delete</button> ` +
        `<button type="button" data-end data-first>leave</button></form>`,
      () => this.host.ask({ delete: names }).then((told) => this.complain(told)),
    );
  }
  named(which) {
    return which.length === 1 ? this.store.names[which[0]] : runs(which.length);
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
        table.sort();
      } else if (has("chosen")) table.rows();
      else if (has("hover")) table.light();
      if (has("shown", "chosen", "hover")) this.parallel.drawOver();
    }
    if (all || has("shown", "picked", "chosen")) this.drawHead();
    const fresh = all || has("side");
    if (fresh) this.place();
    if (this.tab === "scatter") {
      if (fresh) scatter.settle();
      else {
        if (has("shown", "picked")) scatter.draw();
        scatter.drawOver();
      }
    } else if (this.tab === "importance" && (fresh || has("shown", "picked"))) importance.settle();
    else if (this.tab === "compare" && (fresh || has("chosen"))) compare.settle();
    if (has("hover") && this.store.hover >= 0 && this.root.contains(document.activeElement))
      this.say(told(this.store, this.store.hover, [this.target, ...table.columns()].filter(Boolean)));
  }
  settle(dirty) {
    if (dirty.has("data")) this.heal();
    this.wide = this.root.clientWidth;
    this.isWide = this.wide >= WIDE;
    this.root.toggleAttribute("data-wide", this.isWide);
    this.paint = this.colours();
    const colour = this.store.of.get(this.state.colour);
    this.colouring = colouring(colour && new Axis(colour), this.theme, this.forced && this.paint.ink);
    const select = (kind, fits) => {
      this.root.querySelector(`[data-set=${kind}]`).innerHTML = this.options(this.state[kind], fits);
    };
    select("target", (c) => c.group === "metric" && c.kind === "number");
    select("colour", (c) => c.kind !== "words" || c.words.length <= 30);
    this.legend(colour);
    this.root.querySelector(".notes").innerHTML = this.store.data.notes.map((n) => `<li>${escape(n)}</li>`).join("");
  }
  legend(column) {
    const box = this.root.querySelector(".legend"),
      { colours } = this.colouring;
    if (!column || this.forced) box.innerHTML = "";
    else if (column.kind === "words")
      box.innerHTML = column.words
        .slice(0, 8)
        .map(
          (w, i) =>
            `<span><i class="dot" style="background:${colours[i % colours.length]}"></i> ` +
            `<bdi>${escape(w)}</bdi></span>`,
        )
        .join(" ");
    else {
      const ends = new Axis(column),
        at = (t) => escape(column.text(nearest(column, ends, t)) || "");
      const ramp = `linear-gradient(90deg,${colours.filter((_, i) => i % 4 === 0).join(",")})`;
      box.innerHTML = `${at(0)} <i class="ramp" style="background:${ramp}"></i> ${at(1)}`;
    }
  }
  drawHead() {
    const { store } = this,
      { data } = store,
      states = {};
    for (const state of data.states) states[state] = (states[state] ?? 0) + 1;
    const parts = Object.entries(states)
      .filter(([state]) => state !== "finished")
      .map(([state, many]) => `${many} ${escape(state)}`);
    const best = this.best();
    this.root.querySelector(".title").innerHTML =
      `<b>${runs(store.count)}</b> in <bdi>${escape(data.folder)}</bdi>` +
      `${parts.length ? ` · ${parts.join(", ")}` : ""}` +
      (best === null
        ? ""
        : ` · best <bdi>${escape(this.target.name)}</bdi> <b>${escape(this.target.text(best))}</b> in ` +
          `<bdi>${escape(store.names[best])}</bdi>`);
    const hits = this.root.querySelector(".hits");
    hits.classList.toggle("warn", Boolean(store.problem));
    const narrowed = store.picked.length < store.count;
    hits.textContent =
      store.problem ?? (narrowed ? `${store.picked.length} of ${runs(store.count)}` : runs(store.count));
    this.root.querySelector("[data-do=clear]").hidden = !(store.filter || store.brushes.size);
    const hidden = this.root.querySelector("[data-do=hidden]"),
      many = store.hidden.reduce((sum, h) => sum + h, 0);
    hidden.hidden = !many;
    hidden.textContent = `${many} hidden`;
    hidden.setAttribute("aria-pressed", String(store.showHidden));
    this.drawActs();
  }
  best() {
    const { store, target } = this;
    if (!target) return null;
    const up = store.data.more[target.name];
    let best = null;
    for (const i of store.picked) {
      const v = target.values[i];
      if (Number.isFinite(v) && (best === null || (up ? v > target.values[best] : v < target.values[best]))) best = i;
    }
    return best;
  }
  drawActs() {
    if (this.asking) return;
    const acts = this.root.querySelector(".acts"),
      { store } = this,
      many = store.chosen.length;
    const keep = acts.contains(document.activeElement) ? document.activeElement.dataset.do : null;
    acts.innerHTML = many
      ? `<span>${many} ticked</span> <button data-do="compare">compare</button>${
          this.host
            ? ["star", "note", "hide", "delete"].map((act) => ` <button data-do="${act}">${act}</button>`).join("")
            : ""
        } <button data-do="none">none</button>`
      : `<span class="soft">Tick runs to compare${this.host ? ", star, note, hide or delete" : ""} them.</span>`;
    if (keep) acts.querySelector(`[data-do="${keep}"]`)?.focus();
  }
  // the table beside the other views, or among them where there is no room
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
    for (const one of media) one.addEventListener("change", set);
    this.undo.push(() => watch.disconnect(), ...media.map((one) => () => one.removeEventListener("change", set)));
    set();
  }
  // the runs as the kernel sees them now
  take(data) {
    this.store.take(data);
  }
  destroy() {
    cancelAnimationFrame(this.asked);
    for (const act of this.undo) act();
    this.sizes?.disconnect();
    this.root.remove();
  }
}

function nearest(column, axis, t) {
  let best = 0,
    least = Infinity;
  column.values.forEach((v, i) => {
    const off = Math.abs(axis.to(v) - t);
    if (off < least) {
      least = off;
      best = i;
    }
  });
  return best;
}
