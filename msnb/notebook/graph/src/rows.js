// Align the rows of two lanes so that matching boxes are level, and reverse a lane.
import { GAP_Y } from "./layered.js";

// Push rows down, in both lanes, until all pairs of rows with twins are level.
export function alignRows(left, right, twin) {
  const pairs = [];
  left.items.forEach((id, at) => {
    const other = right.number.get(twin(id));
    if (other !== undefined) pairs.push([left.rank[at], right.rank[other]]);
  });
  const anchors = increasing(pairs.sort((p, q) => p[0] - q[0] || p[1] - q[1]));
  const places = [new Array(left.rows.length), new Array(right.rows.length)],
    bottom = [0, 0],
    next = [0, 0];
  const put = (side, row, centre) => {
    const { h } = (side ? right : left).rows[row];
    places[side][row] = centre;
    bottom[side] = centre + h / 2 + GAP_Y;
    next[side] = row + 1;
  };
  const fill = (side, until) => {
    for (let r = next[side]; r < until; r++) put(side, r, bottom[side] + (side ? right : left).rows[r].h / 2);
  };
  for (const [l, r] of anchors) {
    fill(0, l);
    fill(1, r);
    const centre = Math.max(bottom[0] + left.rows[l].h / 2, bottom[1] + right.rows[r].h / 2);
    put(0, l, centre);
    put(1, r, centre);
  }
  fill(0, left.rows.length);
  fill(1, right.rows.length);
  const h = Math.max(bottom[0], bottom[1]) - GAP_Y;
  move(left, places[0], h);
  move(right, places[1], h);
}

function move(r, places, h) {
  const old = r.rows;
  const to = (y) => {
    // Rows are moved without change; the space between them is stretched.
    let low = 0,
      high = old.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (old[mid].y - old[mid].h / 2 <= y) low = mid;
      else high = mid - 1;
    }
    const end = old[low].y + old[low].h / 2,
      shift = places[low] - old[low].y;
    if (y <= end || low + 1 >= old.length) return y + shift;
    const start = old[low + 1].y - old[low + 1].h / 2,
      after = places[low + 1] - old[low + 1].y;
    return y + shift + ((after - shift) * (y - end)) / (start - end);
  };
  for (const route of r.routes) if (route) for (const p of route) p[1] = to(p[1]);
  r.y = r.rank.map((rank) => places[rank]);
  r.rows = old.map((row, i) => ({ y: places[i], h: row.h }));
  r.h = h;
}

// The longest sequence of row pairs that increases on both sides.
function increasing(pairs) {
  const best = [],
    from = [];
  let end = -1;
  pairs.forEach(([l, r], i) => {
    best[i] = 1;
    from[i] = -1;
    for (let j = Math.max(0, i - 400); j < i; j++)
      if (pairs[j][0] < l && pairs[j][1] < r && best[j] + 1 > best[i]) {
        best[i] = best[j] + 1;
        from[i] = j;
      }
    if (end < 0 || best[i] > best[end]) end = i;
  });
  const chain = [];
  for (let i = end; i >= 0; i = from[i]) chain.unshift(pairs[i]);
  return chain;
}

export function flip(r) {
  r.y = r.y.map((y) => r.h - y);
  r.rows = r.rows.map((row) => ({ y: r.h - row.y, h: row.h })).reverse();
  r.rank = r.rank.map((rank) => r.rows.length - 1 - rank);
  for (const route of r.routes) if (route) for (const p of route) p[1] = r.h - p[1];
}
