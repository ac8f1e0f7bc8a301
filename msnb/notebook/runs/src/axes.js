// Axes: position of a value from 0 to 1, and tick labels. Words are centred in their part.
import { date, number, seconds } from "./format.js";

const MINUTE = 60;

export class Axis {
  constructor(column, most = 6) {
    this.column = column;
    const { kind, low, high, log } = column;
    if (kind === "words") {
      const many = Math.max(column.words.length, 1);
      this.to = (v) => (v + 0.5) / many;
      this.back = (t) => t * many - 0.5;
      const every = Math.ceil(many / 14);
      this.ticks = column.words.map((text, i) => [this.to(i), text]).filter((_, i) => i % every === 0);
      return;
    }
    if (!(high >= low)) {
      this.to = () => NaN;
      this.back = () => NaN;
      this.ticks = [];
      return;
    }
    const flat = high === low,
      half = kind === "time" ? MINUTE : (Math.abs(low) || 1) / 2, // around the only value
      curved = log && !flat,
      a = flat ? low - half : log ? Math.log10(low) : low,
      b = flat ? high + half : log ? Math.log10(high) : high;
    this.to = curved ? (v) => (Math.log10(v) - a) / (b - a) : (v) => (v - a) / (b - a);
    this.back = curved ? (t) => 10 ** (a + t * (b - a)) : (t) => a + t * (b - a);
    const text = { time: date, seconds }[kind] ?? number;
    const named = column.few && kind === "number" && apart(column.few.map(this.to)) ? column.few : null;
    const many = () => (curved ? powers(a, b, most) : kind === "time" ? [a, b] : nice(a, b, most));
    this.ticks = (named ?? (flat ? [low] : many())).map((v) => [this.to(v), text(v)]);
  }
  // Return the values on a section of the axis as a brush; null if there are none.
  brush(from, to) {
    if (from > to) [from, to] = [to, from];
    if (this.column.kind === "words") {
      const words = new Set();
      for (let i = 0; i < this.column.words.length; i++) if (this.to(i) >= from && this.to(i) <= to) words.add(i);
      return { words, from, to };
    }
    // A brush to the end of the axis is unlimited there: a later run may be better than all.
    return { low: from <= 0 ? -Infinity : this.back(from), high: to >= 1 ? Infinity : this.back(to) };
  }
  // [from, to] of a brush, from 0 to 1
  place(brush) {
    if (!brush || brush.none) return null;
    if (brush.words) {
      if (brush.from !== undefined) return [brush.from, brush.to];
      const at = [...brush.words].map((w) => this.to(w)),
        half = 0.5 / Math.max(this.column.words.length, 1);
      return at.length ? [Math.min(...at) - half, Math.max(...at) + half] : [0, 0];
    }
    const inside = (v, end) => Math.max(0, Math.min(1, Number.isNaN(this.to(v)) ? end : this.to(v)));
    return [inside(brush.low, 0), inside(brush.high, 1)]; // on a logarithmic axis nothing stands at -∞ or below 0
  }
}

// True if there is room for a text at each position.
function apart(places) {
  const sorted = [...places].sort((a, b) => a - b);
  return sorted.every((t, i) => !i || t - sorted[i - 1] > 0.07);
}
function nice(a, b, most) {
  const rough = (b - a) / most,
    power = 10 ** Math.floor(Math.log10(rough)),
    step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough),
    found = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step; k++) found.push(+(k * step).toPrecision(12));
  return found;
}
function powers(a, b, most) {
  const every = Math.max(1, Math.ceil((b - a) / most)),
    found = [];
  for (let k = Math.ceil(a - 1e-9); k <= b + 1e-9; k += every) found.push(10 ** k);
  return found;
}
