// A chart on a canvas: curves of several runs, axes, values beyond a threshold, NaNs, a cursor.
import { clock, lasting, show, ticks, whole } from "./format.js";

const LEFT = 52,
  RIGHT = 10,
  TOP = 8,
  BOTTOM = 22;
export const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 3], [1, 3], [7, 3, 1, 3, 1, 3]];

const xsOf = (curve, kind, began) =>
  kind === "step"
    ? curve.steps
    : kind === "relative"
      ? curve.times
      : Float64Array.from(curve.times.subarray(0, curve.length), (t) => t + began);

// lines: [{curve, run, colour, dash, began}]; state: {axis, log, smoothing, outliers, zoom, limits: [above, below],
// selected} and colours. Returns the geometry for pointers: {x0, x1, y0, y1, toX, toY, atX, atY, lines}.
export function drawn(canvas, width, height, lines, state) {
  const scale = Math.min(globalThis.devicePixelRatio || 1, 2),
    c = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.clearRect(0, 0, width, height);
  const made = lines.map((one) => ({
    ...one,
    xs: xsOf(one.curve, state.axis, one.began),
    ys: one.curve.smoothed(state.smoothing),
  }));
  const box = range(made, state),
    { x0, x1, y0, y1 } = box,
    f = state.log ? (v) => Math.log10(v) : (v) => v,
    f0 = f(y0),
    f1 = f(y1),
    right = width - RIGHT,
    bottom = height - BOTTOM;
  const atX = (x) => LEFT + ((x - x0) / (x1 - x0)) * (right - LEFT),
    atY = (y) => bottom - ((f(y) - f0) / (f1 - f0)) * (bottom - TOP),
    toX = (px) => x0 + ((px - LEFT) / (right - LEFT)) * (x1 - x0),
    toY = (py) => {
      const v = f0 + ((bottom - py) / (bottom - TOP)) * (f1 - f0);
      return state.log ? 10 ** v : v;
    };
  const single = made.every(({ curve }) => curve.n === 1 && Number.isFinite(curve.mean[0]));
  if (made.length && single && !state.zoom && !state.limits) {
    numbers(c, made, state, { width, height });
    return { ...box, toX, toY, atX, atY, lines: made, left: LEFT, right, top: TOP, bottom };
  }
  axes(c, box, state, { atX, atY, right, bottom, width });
  c.save();
  c.beginPath();
  c.rect(LEFT - 3, TOP - 3, right - LEFT + 6, bottom - TOP + 6); // a point on the frame is whole
  c.clip();
  c.lineJoin = "round";
  for (const one of made) {
    const faded = state.selected !== null && state.selected !== one.run;
    band(c, one, state, atX, atY, faded);
    c.strokeStyle = one.colour;
    c.globalAlpha = faded ? 0.25 : 1;
    c.lineWidth = state.selected === one.run ? 2.4 : 1.5;
    c.setLineDash(one.dash);
    stroke(c, one, atX, atY, state.log);
    c.setLineDash([]);
    c.globalAlpha = 1;
  }
  limits(c, made, state, { atX, atY, right });
  for (const one of made) marks(c, one, state, atX, bottom);
  c.restore();
  const lost = state.log ? unplaced(made) : 0;
  if (lost) {
    const words = `${whole(lost)} value${lost === 1 ? "" : "s"} ≤ 0 not shown`;
    c.fillStyle = state.soft;
    c.strokeStyle = state.bg;
    c.lineWidth = 3;
    c.textAlign = "right";
    c.textBaseline = "top";
    c.strokeText(words, right, TOP);
    c.fillText(words, right, TOP);
  }
  return { ...box, toX, toY, atX, atY, lines: made, left: LEFT, right, top: TOP, bottom };
}

// Write the values of curves with one value each as numbers.
function numbers(c, made, state, { width, height }) {
  const size = Math.min(30, Math.floor((height - 12) / made.length)),
    rows = Math.min(made.length, Math.floor((height - 12) / Math.max(size, 13)));
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.font = `600 ${Math.max(11, Math.round(size * 0.8))}px system-ui, 'Segoe UI', Roboto, sans-serif`;
  const widest = Math.max(...made.map(({ curve }) => c.measureText(show(curve.mean[0])).width)),
    x = Math.round((width - widest) / 2);
  made.slice(0, rows).forEach(({ curve, run, colour }, at) => {
    const y = height / 2 + (at - (rows - 1) / 2) * Math.max(size, 13);
    c.globalAlpha = state.selected !== null && state.selected !== run ? 0.25 : 1;
    c.fillStyle = colour;
    c.beginPath();
    c.arc(x - 12, y, 4, 0, 7);
    c.fill();
    c.fillStyle = state.ink;
    c.fillText(show(curve.mean[0]), x, y);
  });
  c.globalAlpha = 1;
}

function range(made, state) {
  let x0 = Infinity,
    x1 = -Infinity,
    y0 = Infinity,
    y1 = -Infinity;
  const { zoom } = state;
  for (const { curve, xs, ys } of made) {
    const shown = state.smoothing ? [ys] : [curve.low, curve.high],
      seen = [];
    for (let i = 0; i < curve.length; i++) {
      const x = xs[i];
      if (zoom && (x < zoom.x0 || x > zoom.x1)) continue;
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      for (const values of shown) {
        const v = values[i];
        if (!Number.isFinite(v) || (state.log && v <= 0)) continue;
        seen.push(v);
      }
    }
    const [low, high] = state.outliers ? ends(seen) : usual(seen, state.log);
    if (low < y0) y0 = low;
    if (high > y1) y1 = high;
  }
  if (zoom) ({ x0, x1 } = zoom);
  if (zoom?.y0 !== undefined && (!state.log || zoom.y0 > 0)) ({ y0, y1 } = zoom);
  else {
    if (!(y1 >= y0)) [y0, y1] = state.log ? [0.1, 1] : [0, 1];
    if (state.log) {
      const ratio = Math.max(y1 / y0, 1.3) ** 0.05;
      y0 /= ratio;
      y1 *= ratio;
    } else {
      const pad = (y1 - y0) * 0.06 || Math.abs(y1) * 0.1 || 0.5;
      y0 -= pad;
      y1 += pad;
    }
  }
  if (!(x1 > x0)) [x0, x1] = x0 === x1 ? [x0 - 0.5, x1 + 0.5] : [0, 1];
  return { x0, x1, y0, y1 };
}

function ends(values) {
  let low = Infinity,
    high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

// The range of the values without outliers: beyond the quartiles by more than three times their distance. For a curve
// that is constant except for a few values, the range of the middle 96 %.
function usual(values, log) {
  if (!values.length) return ends(values);
  const f = log ? Math.log : (v) => v,
    back = log ? Math.exp : f,
    sorted = Float64Array.from(values, f).sort(),
    at = (share) => sorted[Math.round(share * (sorted.length - 1))],
    far = 3 * (at(0.75) - at(0.25)),
    within = sorted.filter((v) => v >= at(0.25) - far && v <= at(0.75) + far);
  return far > 0 ? [back(within[0]), back(within.at(-1))] : [back(at(0.02)), back(at(0.98))];
}

// Count values that are finite and not above 0; a column of several values counts once.
function unplaced(made) {
  let lost = 0;
  for (const { curve, ys } of made)
    for (let i = 0; i < curve.length; i++) if (Number.isFinite(ys[i]) && ys[i] <= 0) lost += 1;
  return lost;
}

function axes(c, { x0, x1, y0, y1 }, state, { atX, atY, right, bottom, width }) {
  c.font = "11px system-ui, 'Segoe UI', Roboto, sans-serif";
  c.lineWidth = 1;
  c.strokeStyle = state.line;
  c.fillStyle = state.soft;
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.beginPath();
  for (const [v, text] of ticks(y0, y1, Math.max(2, Math.floor(bottom / 27)), state.log)) {
    const y = Math.round(atY(v)) + 0.5;
    c.moveTo(LEFT, y);
    c.lineTo(right, y);
    c.fillText(text, LEFT - 6, y);
  }
  c.textAlign = "center";
  c.textBaseline = "top";
  const far = x1 - x0,
    label =
      state.axis === "step"
        ? (v) => (Number.isInteger(v) ? whole(v) : "")
        : state.axis === "relative"
          ? (v) => (v < 0 ? "" : lasting(v))
          : (v) => clock(v, far);
  for (const [v] of ticks(
    x0,
    x1,
    Math.max(2, Math.floor((right - LEFT) / { step: 54, relative: 76, wall: 90 }[state.axis])),
    false,
  )) {
    const x = Math.round(atX(v)) + 0.5,
      text = label(v),
      half = c.measureText(text).width / 2;
    if (text) c.fillText(text, Math.min(x, width - half - 2), bottom + 6);
  }
  c.moveTo(LEFT, bottom + 0.5);
  c.lineTo(right, bottom + 0.5);
  c.stroke();
}

// Draw the range of each column, or, behind a smoothed curve, the values themselves.
function band(c, { curve, xs, colour }, state, atX, atY, faded) {
  const floor = (v) => (state.log && !(v > 0) ? NaN : v);
  c.globalAlpha = faded ? 0.06 : state.smoothing ? 0.22 : 0.3;
  c.strokeStyle = c.fillStyle = colour;
  if (state.smoothing) {
    c.lineWidth = 1;
    stroke(c, { curve, xs, ys: curve.mean }, atX, atY, state.log);
  }
  if (curve.n > curve.length) {
    c.lineWidth = 1;
    c.beginPath();
    for (let i = 0; i < curve.length; i++) {
      const low = floor(curve.low[i]),
        high = floor(curve.high[i]);
      if (Number.isNaN(low) || Number.isNaN(high) || low === high) continue;
      const x = atX(xs[i]);
      c.moveTo(x, atY(low));
      c.lineTo(x, atY(high));
    }
    c.stroke();
  }
  c.globalAlpha = 1;
}

function stroke(c, { curve, xs, ys }, atX, atY, log) {
  let open = false,
    only = 0;
  c.beginPath();
  for (let i = 0; i < curve.length; i++) {
    const v = ys[i];
    if (!Number.isFinite(v) || (log && v <= 0)) {
      open = false;
      continue;
    }
    const x = atX(xs[i]),
      y = atY(v);
    if (open) c.lineTo(x, y);
    else c.moveTo(x, y);
    open = true;
    only += 1;
  }
  c.stroke();
  if (only === 1)
    for (let i = 0; i < curve.length; i++)
      if (Number.isFinite(ys[i])) {
        c.beginPath();
        c.arc(atX(xs[i]), atY(ys[i]), 3, 0, 7);
        c.fillStyle = c.strokeStyle;
        c.fill();
      }
}

// Draw the lines of the thresholds, and highlight the curves beyond them.
function limits(c, made, state, { atX, atY, right }) {
  const [above, below] = state.limits ?? [];
  const beyond = (v) => (above !== undefined && v > above) || (below !== undefined && v < below);
  for (const limit of [above, below])
    if (limit !== undefined && (!state.log || limit > 0)) {
      c.strokeStyle = state.bad;
      c.lineWidth = 1;
      c.setLineDash([5, 3]);
      c.beginPath();
      c.moveTo(LEFT, atY(limit));
      c.lineTo(right, atY(limit));
      c.stroke();
      c.setLineDash([]);
    }
  if (above === undefined && below === undefined) return;
  c.strokeStyle = state.bad;
  c.lineWidth = 2.5;
  for (const { curve, xs } of made) {
    c.beginPath();
    for (let i = 0; i < curve.length; i++) {
      if (!beyond(curve.high[i]) && !beyond(curve.low[i])) continue;
      const v = beyond(curve.high[i]) ? curve.high[i] : curve.low[i];
      if (state.log && v <= 0) continue;
      const x = atX(xs[i]),
        y = atY(v);
      c.moveTo(x - 1.5, y);
      c.lineTo(x + 1.5, y);
    }
    c.stroke();
  }
}

// A triangle on the axis where values were NaN or infinite
function marks(c, { curve, xs }, state, atX, bottom) {
  c.fillStyle = state.bad;
  let last = -9;
  for (let i = 0; i < curve.length; i++) {
    if (!curve.bad[i]) continue;
    const x = atX(xs[i]);
    if (x - last < 5) continue;
    last = x;
    c.beginPath();
    c.moveTo(x - 4, bottom);
    c.lineTo(x + 4, bottom);
    c.lineTo(x, bottom - 7);
    c.fill();
  }
}
