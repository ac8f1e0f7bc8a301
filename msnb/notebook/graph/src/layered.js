// Layered graph drawing (Sugiyama): ranks by longest path, order by barycentres, columns by isotonic regression.
// msnb/ir/layout/layered.py draws the static pictures with the same method.

export const GAP_X = 18,
  GAP_Y = 18;

// sizes: [[w, h]] in the order of execution; edges: [[a, b]] as box numbers; ports: [number of first boxes that are in
// a row above all others, number of last boxes that are in a row below]. Returns centres x and y, the rank of each box,
// rows {y, h} and a route of points per edge.
export function layered(sizes, edges, ports = [0, 0]) {
  const count = sizes.length;
  if (!count) return { x: [], y: [], rank: [], rows: [], routes: [], w: 0, h: 0 };
  const down = new Map();
  for (const [a, b] of edges)
    if (a !== b) down.set(Math.min(a, b) * count + Math.max(a, b), [Math.min(a, b), Math.max(a, b)]);
  const pairs = [...down.values()].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  const rank = ranks(count, pairs, ports),
    layers = [];
  for (let i = 0; i < count; i++) (layers[rank[i]] ||= []).push(i);
  const width = sizes.map((s) => s[0]),
    above = [],
    below = [],
    paths = new Map();
  for (let i = 0; i < count; i++) {
    above.push([]);
    below.push([]);
  }
  for (const [a, b] of pairs) {
    const path = [a];
    for (let r = rank[a] + 1; r < rank[b]; r++) {
      path.push(width.length);
      layers[r].push(width.length);
      width.push(2);
      above.push([]);
      below.push([]);
    }
    path.push(b);
    for (let i = 1; i < path.length; i++) {
      below[path[i - 1]].push(path[i]);
      above[path[i]].push(path[i - 1]);
    }
    paths.set(a * count + b, path);
  }
  // Most scopes are a chain: their boxes are in one column.
  const chain = pairs.length === count - 1 && pairs.every(([a, b], i) => a === i && b === i + 1);
  if (!chain) order(layers, above, below, width.length, count);
  const x = chain ? new Array(count).fill(0) : columns(layers, above, below, width, count);
  const rows = [];
  let at = 0;
  for (const layer of layers) {
    let h = 0;
    for (const i of layer) if (i < count && sizes[i][1] > h) h = sizes[i][1];
    rows.push({ y: at + h / 2, h });
    at += h + GAP_Y;
  }
  let left = Infinity,
    right = -Infinity;
  for (let i = 0; i < x.length; i++) {
    left = Math.min(left, x[i] - width[i] / 2);
    right = Math.max(right, x[i] + width[i] / 2);
  }
  for (let i = 0; i < x.length; i++) x[i] -= left;
  const rowOf = new Int32Array(x.length);
  layers.forEach((layer, r) => {
    for (const i of layer) rowOf[i] = r;
  });
  const routes = edges.map(([a, b]) => {
    const path = paths.get(Math.min(a, b) * count + Math.max(a, b));
    if (!path) return null;
    // Vertical through each row that the edge passes, horizontal only between rows.
    const points = [],
      put = (px, py) => {
        const last = points[points.length - 1];
        if (!last || Math.abs(last[1] - py) > 1 || last[0] !== px) points.push([px, py]);
      };
    path.forEach((i, at) => {
      const { y, h } = rows[rowOf[i]],
        half = i < count ? sizes[i][1] / 2 : 0;
      if (at) {
        put(x[i], y - h / 2);
        if (i < count) put(x[i], y - half);
      }
      if (at < path.length - 1) {
        if (i < count) put(x[i], y + half);
        put(x[i], y + h / 2);
      }
    });
    return a < b ? points : points.reverse();
  });
  return {
    x: x.slice(0, count),
    y: Array.from({ length: count }, (_, i) => rows[rank[i]].y),
    rank,
    rows,
    routes,
    w: right - left,
    h: at - GAP_Y,
  };
}

function ranks(count, pairs, [above, below]) {
  const into = Array.from({ length: count }, () => []),
    out = Array.from({ length: count }, () => []);
  for (const [a, b] of pairs) {
    into[b].push(a);
    out[a].push(b);
  }
  const rank = new Array(count).fill(0),
    first = +(above > 0),
    end = count - below; // edges go from smaller to larger numbers: this order is topological
  let last = first;
  for (let i = above; i < end; i++) {
    rank[i] = first;
    for (const a of into[i]) rank[i] = Math.max(rank[i], rank[a] + 1);
    last = Math.max(last, rank[i] + 1);
  }
  for (let i = end - 1; i >= above; i--) {
    if (into[i].length) continue;
    let low = Infinity;
    for (const b of out[i]) if (b < end) low = Math.min(low, rank[b]);
    if (low < Infinity) rank[i] = Math.max(first, low - 1); // a source stands right above its first reader
  }
  return rank.fill(last, end);
}

// Order the boxes of each layer so that few edges cross. Barycentre sweeps from above and below, with ties in the
// present or the reversed order, and swaps of neighbours. Start from the order of execution, from a depth-first walk,
// and with long edges on the left; use the best result.
function order(layers, above, below, total, count) {
  const place = new Float64Array(total),
    weight = new Float64Array(total),
    large = total > 3000,
    patience = large ? 2 : 4;
  const set = (layer) => {
    for (let at = 0; at < layer.length; at++) place[layer[at]] = at;
  };
  let least = Infinity,
    best;
  const look = () => {
    const found = crossings(layers, below, place);
    if (found >= least) return false;
    least = found;
    best = layers.map((l) => l.slice());
    return true;
  };
  for (const begin of [
    () => {},
    () => walk(layers, above, below, total),
    () => layers.forEach((l) => l.sort((a, b) => (b >= count) - (a >= count) || a - b)),
  ]) {
    if (!least) break;
    begin();
    layers.forEach(set);
    look();
    for (let sweep = 0, idle = 0; least && idle < patience && sweep < 24; sweep++) {
      const near = sweep % 2 ? below : above,
        many = layers.length,
        turn = sweep % 4 > 1 ? -1 : 1;
      for (let k = 1; k < many; k++) {
        const layer = layers[sweep % 2 ? many - 1 - k : k];
        if (layer.length < 2) continue;
        for (const i of layer) {
          const list = near[i];
          let sum = 0;
          for (const j of list) sum += place[j];
          weight[i] = list.length ? sum / list.length : place[i];
        }
        layer.sort((a, b) => weight[a] - weight[b] || turn * (place[a] - place[b]));
        set(layer);
      }
      if (total < 600) swap(layers, above, below, place);
      if (look()) idle = 0;
      else idle++;
    }
  }
  best.forEach((layer, k) => {
    layers[k] = layer;
  });
}

// Sort each layer by the order of a depth-first walk.
function walk(layers, above, below, total) {
  const seen = new Float64Array(total).fill(-1),
    stack = [];
  let n = 0;
  for (const layer of layers)
    for (const start of layer) {
      stack.push(start);
      while (stack.length) {
        const i = stack.pop();
        if (seen[i] >= 0) continue;
        seen[i] = n++;
        for (const list of [above[i], below[i]])
          for (let k = list.length; k--;) if (seen[list[k]] < 0) stack.push(list[k]);
      }
    }
  for (const layer of layers) layer.sort((a, b) => seen[a] - seen[b]);
}

function crossings(layers, below, place) {
  let sum = 0;
  for (let k = 0; k + 1 < layers.length; k++) {
    const tree = new Int32Array(layers[k + 1].length + 1);
    let seen = 0; // how many edges end at or before a place
    for (const i of layers[k]) {
      for (const j of below[i]) {
        sum += seen;
        for (let at = place[j] + 1; at > 0; at -= at & -at) sum -= tree[at];
      }
      for (const j of below[i]) {
        seen++;
        for (let at = place[j] + 1; at < tree.length; at += at & -at) tree[at]++;
      }
    }
  }
  return sum;
}

function swap(layers, above, below, place) {
  const gain = (a, b, near) => {
    let sum = 0;
    for (const i of near[a]) for (const j of near[b]) sum += Math.sign(place[i] - place[j]);
    return sum;
  };
  for (const layer of layers)
    for (let at = 0; at + 1 < layer.length; at++) {
      const a = layer[at],
        b = layer[at + 1];
      if (gain(a, b, above) + gain(a, b, below) > 0) {
        layer[at] = b;
        layer[at + 1] = a;
        place[a] = at + 1;
        place[b] = at;
      }
    }
}

function columns(layers, above, below, width, count) {
  const x = new Array(width.length).fill(0);
  for (const layer of layers) {
    let at = 0;
    for (const i of layer) {
      x[i] = at + width[i] / 2;
      at += width[i] + GAP_X;
    }
    for (const i of layer) x[i] -= at / 2;
  }
  const sweeps = width.length > 3000 ? 3 : 8;
  for (let sweep = 0; sweep < sweeps; sweep++)
    for (let k = 0; k < layers.length; k++) {
      const layer = layers[sweep % 2 ? layers.length - 1 - k : k];
      const wanted = [],
        weights = [];
      for (const i of layer) {
        const first = sweep % 2 ? below[i] : above[i],
          near = first.length ? first : sweep % 2 ? above[i] : below[i];
        let sum = 0;
        for (const j of near) sum += x[j];
        wanted.push(near.length ? sum / near.length : x[i]);
        weights.push(i >= count ? 4 : near.length ? 1 : 0.1);
      }
      apart(wanted, weights, layer, width).forEach((value, at) => {
        x[layer[at]] = value;
      });
    }
  return x;
}

// Positions closest to `wanted` (least squares) that preserve the order and the gaps (pool adjacent violators).
function apart(wanted, weights, layer, width) {
  const offsets = [],
    blocks = [];
  let offset = 0;
  layer.forEach((i, at) => {
    if (at) offset += (width[layer[at - 1]] + width[i]) / 2 + GAP_X;
    offsets.push(offset);
  });
  wanted.forEach((value, at) => {
    blocks.push([value - offsets[at], weights[at], 1]);
    while (blocks.length > 1 && blocks[blocks.length - 2][0] > blocks[blocks.length - 1][0]) {
      const [mean, weight, many] = blocks.pop(),
        last = blocks[blocks.length - 1];
      last[0] = (last[0] * last[1] + mean * weight) / (last[1] + weight);
      last[1] += weight;
      last[2] += many;
    }
  });
  const result = [];
  for (const [mean, , many] of blocks) for (let i = 0; i < many; i++) result.push(mean + offsets[result.length]);
  return result;
}
