// One tag of one run as columns: each represents one or several values by minimum, maximum and mean.
const FIELDS = ["steps", "times", "low", "high", "mean", "counts", "bad"];
const MOST = 1200; // columns; a curve that is appended to is halved when it has more

export class Curve {
  constructor(columns, n) {
    this.set(columns, n);
  }
  set(columns, n) {
    this.n = n;
    this.length = columns.steps.length;
    for (const name of FIELDS) this[name] = columns[name];
    this.smooth = null;
  }

  // A copy that is extended independently; `append` creates new arrays.
  copy() {
    return Object.assign(Object.create(Curve.prototype), this);
  }

  // Append later columns; `from` values were there before.
  append(columns, from) {
    for (const name of FIELDS) {
      const made = new (name === "steps" || name === "times" ? Float64Array : this[name].constructor)(
        this.length + columns[name].length,
      );
      made.set(this[name].subarray(0, this.length));
      made.set(columns[name], this.length);
      this[name] = made;
    }
    this.length += columns.steps.length;
    this.n = from + columns.counts.reduce((sum, one) => sum + one, 0);
    while (this.length > MOST) this.halve();
    this.smooth = null;
  }

  halve() {
    const half = Math.ceil(this.length / 2);
    const made = Object.fromEntries(FIELDS.map((name) => [name, new this[name].constructor(half)]));
    for (let i = 0; i < half; i++) {
      const a = 2 * i,
        b = Math.min(a + 1, this.length - 1),
        both = b > a;
      made.steps[i] = this.steps[a];
      made.times[i] = this.times[a];
      made.low[i] = least(this.low[a], this.low[b]);
      made.high[i] = largest(this.high[a], this.high[b]);
      made.counts[i] = this.counts[a] + (both ? this.counts[b] : 0);
      made.bad[i] = this.bad[a] + (both ? this.bad[b] : 0);
      const na = this.counts[a] - this.bad[a],
        nb = both ? this.counts[b] - this.bad[b] : 0;
      made.mean[i] = na + nb ? ((na ? this.mean[a] * na : 0) + (nb ? this.mean[b] * nb : 0)) / (na + nb) : NaN;
    }
    for (const name of FIELDS) this[name] = made[name];
    this.length = half;
  }

  // Exponential mean with bias correction. A column of several values has their weight.
  smoothed(weight) {
    if (!weight) return this.mean;
    if (this.smooth?.weight === weight) return this.smooth.values;
    const values = new Float64Array(this.length);
    let last = 0,
      mass = 0;
    for (let i = 0; i < this.length; i++) {
      const value = this.mean[i];
      if (Number.isFinite(value)) {
        const keep = weight ** Math.max(1, this.counts[i] - this.bad[i]);
        last = last * keep + (1 - keep) * value;
        mass = mass * keep + (1 - keep);
        values[i] = last / mass;
      } else values[i] = NaN;
    }
    this.smooth = { weight, values };
    return values;
  }

  get last() {
    for (let i = this.length - 1; i >= 0; i--)
      if (Number.isFinite(this.mean[i])) return this.counts[i] > 1 ? this.mean[i] : this.high[i];
    return NaN;
  }
}

const least = (a, b) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b));
const largest = (a, b) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b));

// Return the index of the column nearest to x; `xs` is sorted.
export function nearest(xs, length, x) {
  let low = 0,
    high = length - 1;
  while (low < high) {
    const at = (low + high) >> 1;
    if (xs[at] < x) low = at + 1;
    else high = at;
  }
  return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : low;
}
