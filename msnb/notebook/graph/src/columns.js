// Arrange rows or columns that are too long to be visible in several columns, like a newspaper.
import { GAP_Y } from "./layered.js";

// A long row of repeats is arranged in columns: 100 blocks below each other would be visible only as a line.
export function columns(sizes, pairs, deep) {
  const count = sizes.length,
    [sumW, sumH] = sizes.reduce(([w, h], s) => [w + s[0], h + s[1] + GAP_Y], [0, 0]);
  // All columns together are roughly a square.
  deep ||= Math.max(1, Math.min(count, Math.round(Math.sqrt((count * sumW * 0.8) / sumH))));
  const wide = Math.ceil(count / deep),
    rank = sizes.map((_, i) => i % deep);
  const widths = new Array(wide).fill(0),
    heights = new Array(deep).fill(0),
    lefts = [];
  sizes.forEach(([w, h], i) => {
    const c = Math.floor(i / deep);
    widths[c] = Math.max(widths[c], w);
    heights[rank[i]] = Math.max(heights[rank[i]], h);
  });
  let at = 0;
  for (const w of widths) {
    lefts.push(at);
    at += w + 2 * GAP_Y;
  }
  const rows = [];
  let y = 0;
  for (const h of heights) {
    rows.push({ y: y + h / 2, h });
    y += h + GAP_Y;
  }
  const x = sizes.map((_, i) => lefts[Math.floor(i / deep)] + widths[Math.floor(i / deep)] / 2),
    centre = (i) => rows[rank[i]].y;
  const routes = pairs.map(([a, b]) => {
    const ca = Math.floor(a / deep),
      cb = Math.floor(b / deep),
      up = ca === cb && rank[a] > rank[b],
      ha = sizes[a][1] / 2,
      hb = sizes[b][1] / 2;
    if (ca === cb)
      return [
        [x[a], centre(a) + (up ? -ha : ha)],
        [x[b], centre(b) + (up ? hb : -hb)],
      ];
    const gap = lefts[Math.max(ca, cb)] - GAP_Y,
      down = ca < cb ? 1 : -1; // from the foot of one column to the head of the next
    return [
      [x[a], centre(a) + down * ha],
      [gap, centre(a) + down * ha + 10 * down],
      [gap, centre(b) - down * hb - 10 * down],
      [x[b], centre(b) - down * hb],
    ];
  });
  return { x, y: sizes.map((_, i) => centre(i)), rank, rows, routes, w: at - 2 * GAP_Y, h: y - GAP_Y, deep };
}

// A scope that is much taller than wide is arranged in columns, in both lanes at the same rows.
export function wrap(lanes) {
  const h = lanes[0].h,
    w = Math.max(...lanes.map((r) => r.w));
  if (h < 5 * w) return;
  const wanted = h / Math.ceil(Math.sqrt(h / w / 1.2)),
    cuts = [0]; // cuts go where no row of any lane is
  const spans = lanes
    .flatMap((r) => r.rows.map((row) => [row.y - row.h / 2, row.y + row.h / 2]))
    .sort((a, b) => a[0] - b[0]);
  let end = 0;
  for (const [from, to] of spans) {
    if (from > end && end - cuts[cuts.length - 1] > wanted * 0.85) cuts.push((from + end) / 2);
    end = Math.max(end, to);
  }
  if (cuts.length < 2) return;
  const columnOf = (y) => {
    let c = 0;
    while (c + 1 < cuts.length && y >= cuts[c + 1]) c++;
    return c;
  };
  let tall = 0;
  for (const r of lanes) {
    const step = r.w + 2 * GAP_Y;
    const move = (p) => {
      const c = columnOf(p[1]);
      return [p[0] + c * step, p[1] - cuts[c]];
    };
    r.routes = r.routes.map((route) => {
      if (!route) return route;
      const first = route[0],
        last = route[route.length - 1],
        c = columnOf(first[1]),
        d = columnOf(last[1]);
      if (c === d)
        return route.map((p) => {
          const q = move(p);
          return [q[0], p[1] - cuts[c]];
        });
      const a = move(first),
        b = move(last),
        gap = Math.max(c, d) * step - GAP_Y,
        down = c < d ? 1 : -1;
      return [a, [gap, a[1] + 10 * down], [gap, b[1] - 10 * down], b];
    });
    r.x = r.x.map((x, i) => x + columnOf(r.y[i]) * step);
    r.items.forEach((_, i) => {
      const c = columnOf(r.y[i]);
      r.y[i] -= cuts[c];
      tall = Math.max(tall, r.y[i] + r.sizes[i][1] / 2);
    });
    r.w += (cuts.length - 1) * step;
  }
  for (const r of lanes) r.h = tall;
}
