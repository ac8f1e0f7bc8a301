// The runs and the selection that all views share: runs that pass the filter (`shown`), those inside all brushes
// (`picked`), those selected for comparison (`chosen`), and the run under the pointer (`hover`).
import { date, number, seconds } from "./format.js";
import { query } from "./query.js";

const RUN = "run"; // the group of what every run has
export const MOST_CHOSEN = 8;
const FEW = 7;

class Column {
  constructor(given) {
    Object.assign(this, given);
    if (this.kind === "words") this.values = Float64Array.from(given.values, (v) => (v === null ? NaN : v));
    else this.values = Float64Array.from(given.values, (v) => (v === null ? NaN : Number(v)));
    this.none = Uint8Array.from(given.values, (v) => v === null); // NaN was recorded where this is 0
    let low = Infinity,
      high = -Infinity;
    for (const v of this.values)
      if (Number.isFinite(v)) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
    this.low = low;
    this.high = high;
    const some = new Set(this.values.filter(Number.isFinite));
    this.few = some.size <= FEW ? [...some].sort((a, b) => a - b) : null; // values that an axis names one by one
  }
  text(i) {
    if (this.none[i]) return "";
    const value = this.values[i];
    if (this.kind === "words") return this.words[value] ?? "";
    return (this.kind === "time" ? date : this.kind === "seconds" ? seconds : number)(value);
  }
}

export class Store {
  constructor(data) {
    this.heard = new Set();
    this.filter = "";
    this.brushes = new Map(); // key of a column -> {low, high}, {words: Set} or {none: true}
    this.chosen = [];
    this.hover = -1;
    this.showHidden = false;
    this.take(data);
  }
  // Take the kernel's data; the runs that still exist stay selected.
  take(data) {
    const before = this.names && {
      chosen: this.chosen.map((i) => this.names[i]),
      hover: this.names[this.hover],
      words: this.wordsOfBrushes(),
    };
    this.data = data;
    this.names = data.names;
    this.count = this.names.length;
    this.at = new Map(this.names.map((name, i) => [name, i]));
    const words = [...new Set(data.states)].sort(),
      plain = { group: RUN, varies: true };
    this.columns = [
      {
        ...plain,
        key: "run:state",
        name: "state",
        kind: "words",
        words,
        values: data.states.map((s) => words.indexOf(s)),
      },
      { ...plain, key: "run:started", name: "started", kind: "time", values: data.started },
      { ...plain, key: "run:duration", name: "duration", kind: "seconds", values: data.seconds },
      ...data.columns,
    ].map((column) => new Column(column));
    this.of = new Map(this.columns.map((column) => [column.key, column]));
    this.star = Uint8Array.from(data.marks, (m) => m.star);
    this.hidden = Uint8Array.from(data.marks, (m) => m.hidden);
    this.notes = data.marks.map((m) => m.note);
    this.text = null;
    for (const key of this.brushes.keys()) if (!this.of.has(key)) this.brushes.delete(key);
    if (before) {
      this.chosen = before.chosen.map((name) => this.at.get(name)).filter((i) => i !== undefined);
      this.hover = this.at.get(before.hover) ?? -1;
      for (const [key, kept] of before.words) this.brushWords(key, kept);
    }
    this.look();
    this.tell("data");
  }
  // Brushes on columns of words, as words, because new runs change the numbers of words.
  wordsOfBrushes() {
    return [...this.brushes].flatMap(([key, { words }]) =>
      words ? [[key, [...words].map((w) => this.of.get(key).words[w])]] : [],
    );
  }
  brushWords(key, kept) {
    const { words } = this.of.get(key) ?? {},
      there = new Set(kept.map((word) => words?.indexOf(word) ?? -1).filter((w) => w >= 0));
    if (there.size) this.brushes.set(key, { words: there });
    else this.brushes.delete(key);
  }
  on(act) {
    this.heard.add(act);
  }
  tell(what) {
    for (const act of this.heard) act(what);
  }
  // The text of a run that words are searched in.
  words(i) {
    this.text ??= this.names.map((name, at) =>
      [name, this.notes[at], ...this.columns.filter((c) => c.kind === "words").map((c) => c.text(at))]
        .join("\n")
        .toLowerCase(),
    );
    return this.text[i];
  }
  look() {
    const asked = query(this, this.filter);
    this.problem = asked.problem;
    this.shown = new Uint8Array(this.count);
    this.showing = 0;
    for (let i = 0; i < this.count; i++) {
      const on = (this.showHidden || asked.hidden || !this.hidden[i]) && asked.test(i);
      this.shown[i] = on ? 1 : 0;
      this.showing += on ? 1 : 0;
    }
    this.pick();
  }
  pick() {
    const tests = [...this.brushes].map(([key, brush]) => [this.of.get(key).values, brush]);
    this.picked ??= [];
    const picked = [];
    next: for (let i = 0; i < this.count; i++) {
      if (!this.shown[i]) continue;
      for (const [values, brush] of tests) if (!holds(brush, values[i])) continue next;
      picked.push(i);
    }
    this.picked = picked;
    this.isPicked = new Uint8Array(this.count);
    for (const i of picked) this.isPicked[i] = 1;
  }
  // Take the selection of another view of the same runs.
  adopt(other) {
    this.showHidden = other.showHidden;
    this.brushes = new Map([...other.brushes].filter(([key]) => this.of.has(key)));
    this.setFilter(other.filter);
  }
  setFilter(text) {
    this.filter = text;
    this.look();
    this.tell("shown");
  }
  setShowHidden(on) {
    this.showHidden = on;
    this.look();
    this.tell("shown");
  }
  // `brushes`: [[key, brush or null], ...], all at once
  brush(...brushes) {
    for (const [key, brush] of brushes) brush ? this.brushes.set(key, brush) : this.brushes.delete(key);
    this.pick();
    this.tell("picked");
  }
  clear() {
    this.brushes.clear();
    this.filter = "";
    this.look();
    this.tell("shown");
  }
  point(i) {
    if (i === this.hover) return;
    this.hover = i;
    this.tell("hover");
  }
  // Return false if too many runs are ticked.
  choose(i, on = !this.chosen.includes(i)) {
    const rest = this.chosen.filter((other) => other !== i);
    if (on && rest.length >= MOST_CHOSEN) return false;
    this.chosen = on ? [...rest, i] : rest;
    this.tell("chosen");
    return true;
  }
  chooseNone() {
    this.chosen = [];
    this.tell("chosen");
  }
  mark(i, marks) {
    if ("star" in marks) this.star[i] = marks.star ? 1 : 0;
    if ("hidden" in marks) this.hidden[i] = marks.hidden ? 1 : 0;
    if ("note" in marks) this.notes[i] = marks.note;
    this.text = null;
    this.look();
    this.tell("shown");
  }
}

export function holds(brush, value) {
  if (brush.none) return !Number.isFinite(value);
  if (brush.words) return brush.words.has(value);
  return Number.isFinite(value) && value >= brush.low && value <= brush.high;
}

// Describe a brush in words.
export function said(column, brush) {
  if (brush.none) return "without a number";
  if (brush.words) return [...brush.words].map((w) => column.words[w]).join(", ") || "none";
  const text = { time: date, seconds }[column.kind] ?? number;
  if (brush.low === -Infinity) return `up to ${text(brush.high)}`;
  return brush.high === Infinity ? `from ${text(brush.low)}` : `${text(brush.low)} to ${text(brush.high)}`;
}
