// Sizes and places of boxes, scope by scope and from the inside out. A scope's layout is kept until something inside it
// is opened or closed. Forward and backward are laid out together, so that what belongs together stands on one row.
import { layered, GAP_Y } from "./layered.js";
import { FOLD, CROWD, PAGE, ROOT, LANE } from "./payload.js";

export const HEADER = 24,
  PAD = 12,
  LEAF = 38,
  LANE_GAP = 56,
  TALL = 4000;
const FONT = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";
const pen = typeof document !== "undefined" && document.createElement("canvas").getContext("2d");
const widths = new Map();

export function textWidth(text, font) {
  const key = font + text;
  let w = widths.get(key);
  if (w === undefined) {
    if (pen) {
      pen.font = `${font} ${FONT}`;
      w = pen.measureText(text).width;
    } else w = text.length * 6.5;
    widths.set(key, w);
  }
  return w;
}

export class Layout {
  constructor(stage) {
    this.stage = stage;
    this.open = new Uint8Array(stage.scopes.length);
    this.whole = new Uint8Array(stage.scopes.length); // folds that show every repeat
    this.repeat = new Int32Array(stage.scopes.length); // which repeat a fold shows
    this.kept = new Array(stage.scopes.length).fill(null);
    for (const s of stage.scopes) if (s.kind === ROOT || s.kind === LANE) this.open[s.i] = 1;
    this.openWithin(40);
  }

  // open scopes from the top while about `budget` boxes fit
  openWithin(budget) {
    const { stage } = this;
    let wave = stage.scopes.filter((s) => s.kind === LANE).flatMap((s) => s.children),
      shown = wave.length;
    while (wave.length) {
      const next = [];
      for (const id of wave) {
        if (!stage.isScope(id)) continue;
        const s = stage.scope(id),
          inside = s.kind === FOLD ? s.children.slice(0, 1) : s.children;
        if (s.kind === CROWD || shown + inside.length - 1 > budget) continue;
        this.set(s, true);
        shown += inside.length - 1;
        next.push(...inside);
      }
      wave = next;
    }
  }

  shown(scope) {
    if (scope.kind === FOLD && !this.whole[scope.i])
      return [scope.children[Math.min(this.repeat[scope.i], scope.children.length - 1)]];
    return scope.children;
  }
  isOpen(id) {
    return this.stage.isScope(id) && this.open[this.stage.scope(id).i] === 1;
  }
  mate(scope) {
    const id = this.stage.twin[scope.id];
    return id >= 0 ? this.stage.scope(id) : null;
  }

  // both lanes open and close together, or their rows would not match
  set(scope, open) {
    for (const s of [scope, this.mate(scope)])
      if (s && this.open[s.i] !== +open) {
        this.open[s.i] = +open;
        this.forget(s);
      }
    if (open && scope.kind === FOLD && !this.whole[scope.i]) {
      const child = this.shown(scope)[0];
      if (this.stage.isScope(child)) this.set(this.stage.scope(child), true);
    }
  }
  toggle(scope) {
    this.set(scope, !this.open[scope.i]);
  }
  showAll(scope, whole) {
    for (const s of [scope, this.mate(scope)])
      if (s) {
        this.whole[s.i] = +whole;
        this.forget(s);
      }
  }
  step(scope, to) {
    const count = scope.children.length,
      index = (to + count) % count,
      name = this.nameOf(scope.children[index]);
    for (const s of [scope, this.mate(scope)])
      if (s) {
        const at = s === scope ? index : s.children.findIndex((id) => this.nameOf(id) === name);
        const before = this.shown(s)[0];
        this.repeat[s.i] = Math.max(0, at);
        this.forget(s);
        this.openLike(before, this.shown(s)[0]);
      }
  }
  // the repeat that comes into sight is opened as far as the one before it was
  openLike(from, to) {
    const { stage } = this;
    if (!stage.isScope(from) || !stage.isScope(to) || from === to) return;
    const a = stage.scope(from),
      b = stage.scope(to);
    this.open[b.i] = this.open[a.i];
    this.whole[b.i] = this.whole[a.i];
    this.repeat[b.i] = this.repeat[a.i];
    this.kept[b.i] = null;
    a.children.forEach((id, at) => {
      if (at < b.children.length) this.openLike(id, b.children[at]);
    });
  }
  nameOf(id) {
    return this.stage.isScope(id) ? this.stage.scope(id).name : this.stage.title(id);
  }
  forget(scope) {
    for (let s = scope; s; s = this.stage.scopes[s.parent]) this.kept[s.i] = null;
  }
  setAll(open) {
    const deep = (s) => s.kind === ROOT || s.kind === LANE;
    for (const s of this.stage.scopes) {
      if (!deep(s)) {
        this.open[s.i] = +open;
        if (s.kind === FOLD) this.whole[s.i] = +open;
      }
      this.kept[s.i] = null;
    }
  }
  // make an item visible: open all around it, and let folds show the right repeat
  reveal(id) {
    const chain = this.stage.chain(id);
    chain.forEach((s, at) => {
      if (s.kind === FOLD && !this.whole[s.i]) {
        const inside = at + 1 < chain.length ? chain[at + 1].id : id,
          index = s.children.indexOf(inside);
        if (index >= 0 && this.repeat[s.i] !== index) this.step(s, index);
      }
      this.set(s, true);
    });
  }
  // the box that stands for an item: itself, or the closed scope around it; -1 when another repeat is shown
  standIn(id) {
    const chain = this.stage.chain(id);
    for (let at = 0; at < chain.length; at++) {
      if (!this.open[chain[at].i]) return chain[at].id;
      const next = at + 1 < chain.length ? chain[at + 1].id : id;
      if (chain[at].kind === FOLD && this.shown(chain[at]).indexOf(next) < 0) return chain[at].id;
    }
    return id;
  }

  size(id) {
    const { stage } = this;
    if (this.isOpen(id)) {
      const s = stage.scope(id),
        kept = this.kept[s.i];
      const extra = s.kind === FOLD ? 118 : 0;
      const head = textWidth(stage.title(id), "600 11px") + 26 + extra;
      return [Math.max(kept.w + 2 * PAD, head), kept.h + HEADER + PAD];
    }
    const w = Math.max(
      textWidth(stage.title(id), "500 11px") + (stage.isScope(id) ? 34 : 22),
      textWidth(stage.note(id), "9.5px") + 20,
      60,
    );
    return [Math.ceil(w), LEAF];
  }

  // lay out whatever is not up to date; a generator, so that a large graph can be done in slices
  *run() {
    const { forward, backward, scopes } = this.stage;
    if (forward && backward && this.stage.twin[forward.id] >= 0) yield* this.pair(forward, backward);
    for (const s of scopes) if (s.kind === LANE && !this.kept[s.i]) yield* this.single(s);
  }
  now() {
    for (const _ of this.run());
  }
  async slices(pause, budget = 24) {
    let started = performance.now();
    for (const _ of this.run())
      if (performance.now() - started > budget) {
        await pause();
        started = performance.now();
      }
  }

  *single(scope) {
    if (this.kept[scope.i]) return;
    for (const id of this.shown(scope)) if (this.isOpen(id)) yield* this.single(this.stage.scope(id));
    const made = (this.kept[scope.i] = this.arrange(scope));
    if (made.h > TALL && !made.deep) wrap([made]);
    yield;
  }

  *pair(f, b) {
    if (this.kept[f.i] && this.kept[b.i] && this.kept[f.i].with === b.i) return;
    const { stage } = this,
      here = new Set(this.shown(b)),
      done = new Set();
    for (const id of this.shown(f))
      if (this.isOpen(id)) {
        const other = stage.twin[id];
        if (other >= 0 && here.has(other) && this.isOpen(other)) {
          done.add(other);
          yield* this.pair(stage.scope(id), stage.scope(other));
        } else yield* this.single(stage.scope(id));
      }
    for (const id of here) if (this.isOpen(id) && !done.has(id)) yield* this.single(stage.scope(id));
    const left = this.arrange(f),
      right = this.arrange(b, left.deep);
    alignRows(left, right, stage.twin);
    if (left.h > TALL && !left.deep) wrap([left, right]);
    left.with = b.i;
    right.with = f.i;
    this.kept[f.i] = left;
    this.kept[b.i] = right;
    yield;
  }

  arrange(scope, deep) {
    const items = this.shown(scope),
      number = new Map(items.map((id, at) => [id, at])),
      edges = [];
    if (items.length === scope.children.length || scope.kind !== FOLD)
      for (const e of scope.edges.values()) if (number.has(e.a) && number.has(e.b)) edges.push(e);
    const sizes = items.map((id) => this.size(id)),
      pairs = edges.map((e) => [number.get(e.a), number.get(e.b)]);
    const first = items[0],
      long =
        items.length > 9 &&
        (scope.kind === CROWD ||
          (this.stage.isScope(first) && (scope.kind === FOLD || this.stage.scope(first).kind === PAGE)));
    const result = long ? columns(sizes, pairs, deep) : layered(sizes, pairs),
      lane = this.stage.scopes[scope.lane];
    // gradients flow up beside the forward lane; repeats that have a twin are in the twin's order already
    if (!long && lane && lane.name === "backward" && !(scope.kind === FOLD && this.stage.twin[scope.id] >= 0))
      flip(result);
    return { ...result, items, number, sizes, edges };
  }
}

// A long row of repeats is set like a newspaper, in columns: 100 blocks below each other could be seen only as a line.
function columns(sizes, pairs, deep) {
  const count = sizes.length,
    [sumW, sumH] = sizes.reduce(([w, h], s) => [w + s[0], h + s[1] + GAP_Y], [0, 0]);
  // as a whole not far from a square
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

function flip(r) {
  r.y = r.y.map((y) => r.h - y);
  r.rows = r.rows.map((row) => ({ y: r.h - row.y, h: row.h })).reverse();
  r.rank = r.rank.map((rank) => r.rows.length - 1 - rank);
  for (const route of r.routes) if (route) for (const p of route) p[1] = r.h - p[1];
}

// Push rows down, in both lanes, until every pair of rows that hold twins stands level.
function alignRows(left, right, twin) {
  const pairs = [];
  left.items.forEach((id, at) => {
    const other = right.number.get(twin[id]);
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
    // rows move as they are, what lies between them is stretched
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

// A scope that is very much taller than wide is set in columns, in both lanes at the same rows.
function wrap(lanes) {
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

// the longest run of row pairs that grows on both sides
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

// Everything with absolute places: boxes (outer before inner) and edges, ready to be culled and drawn.
export function flatten(layout) {
  const { stage } = layout,
    boxes = [],
    edges = [],
    lanes = [],
    at = new Map();
  const lanesShown = stage.scopes.filter((s) => s.kind === LANE && s.children.length),
    many = lanesShown.length > 1;
  let x = 20,
    h = 0;
  const top = many ? 46 : 20;
  const place = (scope, left, up, depth) => {
    const kept = layout.kept[scope.i];
    kept.edges.forEach((e, i) => {
      const route = kept.routes[i];
      if (route)
        edges.push({ a: e.a, b: e.b, n: e.n, scope: scope.i, points: route.map((p) => [left + p[0], up + p[1]]) });
    });
    kept.items.forEach((id, i) => {
      const [w, tall] = kept.sizes[i],
        bx = left + kept.x[i] - w / 2,
        by = up + kept.y[i] - tall / 2,
        open = layout.isOpen(id);
      at.set(id, boxes.length);
      boxes.push({ id, x: bx, y: by, w, h: tall, open, depth });
      if (open) {
        const s = stage.scope(id);
        place(s, bx + (w - layout.kept[s.i].w) / 2, by + HEADER, depth + 1);
      }
    });
  };
  for (const s of lanesShown) {
    const kept = layout.kept[s.i],
      w = Math.max(kept.w, 110);
    if (many) lanes.push({ name: s.name, x: x + w / 2 });
    place(s, x + (w - kept.w) / 2, top, 0);
    x += w + LANE_GAP;
    h = Math.max(h, kept.h);
  }
  for (const e of edges) {
    let x0 = Infinity,
      x1 = -Infinity,
      y0 = Infinity,
      y1 = -Infinity;
    for (const [px, py] of e.points) {
      x0 = Math.min(x0, px);
      x1 = Math.max(x1, px);
      y0 = Math.min(y0, py);
      y1 = Math.max(y1, py);
    }
    Object.assign(e, { x0, x1, y0, y1 });
  }
  return { boxes, edges, lanes, at, w: Math.max(x - LANE_GAP + 20, 60), h: h + top + 20 };
}
