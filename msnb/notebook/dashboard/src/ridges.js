// Histograms of many steps on a canvas: as ridges, overlaid, or as a distribution over time.
import { AXES, clock, lasting, show, ticks, whole } from "./format.js";

export const FORMS = { ridges: "ridges", overlaid: "one over the other", distribution: "distribution" };
const SHARES = [0, 0.07, 0.16, 0.31, 0.5, 0.69, 0.84, 0.93, 1];
const LEFT = 10,
  RIGHT = 72,
  TOP = 40,
  BOTTOM = 20;

// The menus for form and axis; `more` are additional forms.
export function fields(form, axis, more = {}) {
  const options = (all, now) =>
    Object.entries(all)
      .map(([key, text]) => `<option value="${key}"${key === now ? " selected" : ""}>${text}</option>`)
      .join("");
  return (
    `<label>as <select data-set="form">${options({ ...more, ...FORMS }, form)}</select></label>` +
    `<label>along <select data-set="axis">${options(AXES, axis)}</select></label>`
  );
}

// Positions of the histograms: {at: [numbers], from, far, text}
function along({ steps, times }, axis, began) {
  const at = axis === "step" ? steps : times.map((t) => t + (axis === "wall" ? began : 0)),
    from = Math.min(...at),
    far = Math.max(...at) - from;
  return { at, from, far, text: { step: whole, relative: lasting, wall: (t) => clock(t, far) }[axis] };
}
const countsOf = (one, row) => one.counts.subarray(row * one.bins, (row + 1) * one.bins);

// one: {low, high, bins, steps, times, counts: the bins of all steps, concatenated}; how: {form, axis, began, colour,
// paint}. Returns a function (x, y) -> {row, bin} or null for the pointer.
export function ridges(canvas, one, how) {
  const width = canvas.clientWidth,
    height = canvas.clientHeight,
    scale = Math.min(devicePixelRatio || 1, 2);
  if (!width) return null;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const c = canvas.getContext("2d");
  c.scale(scale, scale);
  c.font = "11px system-ui, 'Segoe UI', Roboto, sans-serif";
  const place = along(one, how.axis, how.began);
  if (how.form === "distribution") {
    distribution(c, one, place, how, width, height);
    return null;
  }
  const { colour, paint } = how,
    rows = one.steps.length,
    right = width - RIGHT,
    bottom = height - BOTTOM,
    top = Math.max(...one.counts, 1e-9),
    flat = how.form === "overlaid",
    high = flat ? bottom - TOP + 20 : TOP - 4,
    atX = (bin) => LEFT + ((bin + 0.5) / one.bins) * (right - LEFT),
    baseOf = (row) => (flat || !place.far ? bottom : TOP + ((place.at[row] - place.from) / place.far) * (bottom - TOP));
  c.lineWidth = 1;
  c.fillStyle = paint.soft;
  c.textAlign = "center";
  c.textBaseline = "top";
  for (const [v, text] of ticks(one.low, one.high, Math.max(2, (right - LEFT) / 80), false)) {
    const x = LEFT + ((v - one.low) / (one.high - one.low)) * (right - LEFT);
    c.fillText(text, Math.max(14, Math.min(x, width - 16)), bottom + 5);
  }
  c.textAlign = "left";
  c.textBaseline = "middle";
  let said = -99;
  for (let row = 0; row < rows; row++) {
    const base = baseOf(row),
      values = countsOf(one, row),
      age = rows < 2 ? 1 : row / (rows - 1);
    c.beginPath();
    c.moveTo(atX(0), base);
    for (let bin = 0; bin < one.bins; bin++) c.lineTo(atX(bin), base - (values[bin] / top) * high);
    c.lineTo(atX(one.bins - 1), base);
    if (!flat) {
      c.globalAlpha = 0.78;
      c.fillStyle = paint.bg;
      c.fill();
      c.globalAlpha = 0.15 + 0.45 * age;
      c.fillStyle = colour;
      c.fill();
    }
    c.globalAlpha = flat ? 0.2 + 0.8 * age : 0.5 + 0.5 * age;
    c.strokeStyle = colour;
    c.stroke();
    c.globalAlpha = 1;
    if (!flat && (base - said > 13 || row === rows - 1) && (row === rows - 1 || bottom - base > 12)) {
      c.fillStyle = paint.soft;
      c.fillText(place.text(place.at[row]), right + 6, base);
      said = base;
    }
  }
  return (x, y) => {
    let row = 0;
    for (let i = 1; i < rows; i++) if (Math.abs(baseOf(i) - y) < Math.abs(baseOf(row) - y)) row = i;
    const across = (x - LEFT) / (right - LEFT);
    return { row: flat ? rows - 1 : row, bin: Math.max(0, Math.min(one.bins - 1, Math.floor(across * one.bins))) };
  };
}

function distribution(c, one, place, { colour, paint }, width, height) {
  const rows = one.steps.length,
    quantiles = Array.from({ length: rows }, (_, row) => shares(countsOf(one, row), one)),
    low = Math.min(...quantiles.map((q) => q[0])),
    high = Math.max(...quantiles.map((q) => q.at(-1))),
    left = 50,
    right = width - 8,
    bottom = height - BOTTOM,
    atX = (v) => left + ((v - place.from) / (place.far || 1)) * (right - left),
    atY = (v) => bottom - ((v - low) / (high - low || 1)) * (bottom - 10);
  c.fillStyle = paint.soft;
  c.strokeStyle = paint.line;
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.beginPath();
  for (const [v, text] of ticks(low, high, 5, false)) {
    c.moveTo(left, atY(v));
    c.lineTo(right, atY(v));
    c.fillText(text, left - 5, atY(v));
  }
  c.stroke();
  c.textAlign = "center";
  c.textBaseline = "top";
  for (const [v] of ticks(place.from, place.from + (place.far || 1), Math.max(2, width / 100), false))
    c.fillText(place.text(v), Math.min(width - 24, atX(v)), bottom + 5);
  c.fillStyle = colour;
  for (let pair = 0; pair < 4; pair++) {
    c.beginPath();
    for (let row = 0; row < rows; row++) c.lineTo(atX(place.at[row]), atY(quantiles[row][pair]));
    for (let row = rows - 1; row >= 0; row--) c.lineTo(atX(place.at[row]), atY(quantiles[row][8 - pair]));
    c.globalAlpha = 0.16;
    c.fill();
  }
  c.globalAlpha = 1;
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.beginPath();
  for (let row = 0; row < rows; row++) c.lineTo(atX(place.at[row]), atY(quantiles[row][4]));
  c.stroke();
}

function shares(counts, one) {
  const total = counts.reduce((sum, v) => sum + v, 0) || 1,
    wide = (one.high - one.low) / one.bins,
    made = [];
  let sum = 0,
    bin = 0;
  for (const share of SHARES) {
    const wanted = share * total;
    while (bin < one.bins - 1 && (sum + counts[bin] < wanted || (share === 0 && counts[bin] === 0)))
      sum += counts[bin++];
    const part = counts[bin] ? Math.min(1, Math.max(0, (wanted - sum) / counts[bin])) : 0;
    made.push(one.low + (bin + part) * wide);
  }
  return made;
}

// Histograms of arrays over common bins, in the format of `ridges`; null if no value is finite.
export function binned(arrays, steps, times, bins = 40) {
  let low = Infinity,
    high = -Infinity;
  for (const values of arrays)
    for (const v of values)
      if (Number.isFinite(v)) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
  if (!(high >= low)) return null;
  if (high === low) {
    const half = Math.abs(low) / 2 || 0.5;
    low -= half;
    high += half;
  }
  const counts = new Float64Array(arrays.length * bins),
    bad = arrays.map((values) => values.length);
  arrays.forEach((values, row) => {
    for (const v of values) {
      if (!Number.isFinite(v)) continue;
      bad[row] -= 1;
      counts[row * bins + Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins))] += 1;
    }
  });
  return { low, high, bins, steps, times, counts, bad };
}

// Describe the bin under the pointer as HTML.
export function told(one, { row, bin }) {
  const wide = (one.high - one.low) / one.bins,
    from = one.low + bin * wide,
    bad = one.bad[row] ? `, ${one.bad[row]} NaN or infinite` : "";
  return (
    `<span class="soft">step ${whole(one.steps[row])}</span><span>${show(from)} to ${show(from + wide)}: ` +
    `<b>${whole(one.counts[row * one.bins + bin])}</b>${bad}</span>`
  );
}
