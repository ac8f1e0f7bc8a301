// Axes, curves, histograms and colour scales.
import { isFiniteNumber, formatNumber } from "./format.js";

// Points of a curve with a logarithmic or linear axis: {place(v), low, high, ticks}
export function axis(values, logarithmic, size) {
  const good = values.filter((v) => isFiniteNumber(v) && (!logarithmic || v > 0));
  if (!good.length) return null;
  const f = logarithmic ? Math.log10 : (v) => v;
  let low = Math.min(...good.map(f)),
    high = Math.max(...good.map(f));
  if (logarithmic) {
    if (high - low < 0.3) {
      low -= 0.15;
      high += 0.15;
    }
  } else if (high === low) {
    high += Math.abs(high) || 1;
    low -= Math.abs(low) || 1;
  }
  const pad = (high - low) * 0.06;
  low -= pad;
  high += pad;
  const ticks = [],
    step = logarithmic ? Math.max(1, Math.ceil((high - low) / 5)) : 10 ** Math.floor(Math.log10(high - low));
  if (logarithmic) {
    for (let t = Math.floor(low); t <= high; t += step)
      for (const m of high - low < 2 ? [1, 2, 5] : [1])
        if (t + f(m) >= low && t + f(m) <= high) ticks.push([m * 10 ** t, `${m}e${t}`.replace("-", "−")]);
  } else
    for (
      let t = Math.ceil(low / step) * step;
      t <= high && ticks.length < 9;
      t += (high - low) / step > 5 ? 2 * step : step
    )
      ticks.push([t, formatNumber(Math.abs(t) < 1e-12 ? 0 : t)]);
  if (ticks.length < 2)
    ticks.splice(
      0,
      1,
      ...[0.1, 0.9]
        .map((at) => low + at * (high - low))
        .map((t) => (logarithmic ? 10 ** t : t))
        .map((v) => [v, formatNumber(v)]),
    );
  const place = (v) => (logarithmic && v <= 0 ? size : size * (1 - (f(v) - low) / (high - low)));
  return { place, ticks };
}

// The path of a curve, with gaps where a value is unknown.
export function path(values, x, y, skip = (v) => !isFiniteNumber(v)) {
  let text = "",
    open = false;
  values.forEach((v, i) => {
    if (skip(v)) {
      open = false;
      return;
    }
    text += `${open ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
    open = true;
  });
  return text;
}

export const RAMP = {
  light: [
    [247, 248, 250],
    [168, 205, 233],
    [86, 152, 205],
    [23, 92, 158],
    [8, 40, 82],
  ],
  dark: [
    [28, 32, 37],
    [27, 66, 102],
    [48, 112, 168],
    [116, 178, 228],
    [222, 240, 255],
  ],
};

export const DIVERGING = {
  light: [
    [178, 82, 14],
    [240, 178, 124],
    [246, 246, 246],
    [134, 186, 226],
    [20, 92, 156],
  ],
  dark: [
    [255, 178, 104],
    [150, 84, 30],
    [34, 38, 43],
    [40, 96, 146],
    [130, 196, 250],
  ],
};

export function colour(stops, t) {
  const at = Math.max(0, Math.min(1, t)) * (stops.length - 1),
    i = Math.min(stops.length - 2, Math.floor(at));
  return stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i)));
}

export function histogram(values) {
  const good = [...values].filter(Number.isFinite);
  if (!good.length) return `<span class="soft">no finite value</span>`;
  const low = Math.min(...good),
    high = Math.max(...good),
    n = 40,
    counts = new Array(n).fill(0);
  for (const v of good) counts[high > low ? Math.min(n - 1, Math.floor(((v - low) / (high - low)) * n)) : 0]++;
  return bars(counts, low, high, 300, 110);
}

export function bars(counts, low, high, width, height) {
  const top = Math.max(...counts),
    each = width / counts.length,
    zero = low < 0 && high > 0 ? (width * -low) / (high - low) : null;
  return (
    `<svg width="${width}" height="${height + 16}" viewBox="0 0 ${width} ${height + 16}" style="max-width:100%" ` +
    `role="img" aria-label="histogram from ${formatNumber(low)} to ${formatNumber(high)}"><g class="bars">${[...counts]
      .map((c, i) =>
        c
          ? `<rect x="${(i * each).toFixed(1)}" ` +
            `width="${Math.max(1, each - 1).toFixed(1)}" y="${(height * (1 - c / top)).toFixed(1)}" ` +
            `height="${Math.max(1, (height * c) / top).toFixed(1)}"/>`
          : "",
      )
      .join("")}</g>
    <line class="grid" x1="0" x2="${width}" y1="${height + 0.5}" y2="${height + 0.5}"/>${
      zero !== null
        ? `<line x1="${zero}" x2="${zero}" y1="0" y2="${height}" stroke="var(--soft)" stroke-dasharray="2 3"/>`
        : ""
    }
    <text x="0" y="${height + 13}">${formatNumber(low)}</text>` +
    `<text x="${width}" y="${height + 13}" text-anchor="end">` +
    `${formatNumber(high)}</text></svg>`
  );
}
