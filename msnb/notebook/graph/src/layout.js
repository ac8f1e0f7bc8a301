// Sizes and positions of boxes, computed scope by scope from the innermost one outwards. The layout of a scope is
// cached until a scope inside it is opened or closed. Forward and backward lanes are laid out together, so that
// corresponding boxes are on one row.
import { layered, GAP_Y } from "./layered.js";
import { columns, wrap } from "./columns.js";
import { portsOf, named, HIDDEN } from "./ports.js";
import { alignRows, flip } from "./rows.js";
import { FOLD, CROWD, ROOT, LANE } from "./constants.js";

export const HEADER = 24,
  PAD = 12,
  LEAF = 36,
  MARGIN = 20,
  LANE_GAP = 56,
  READABLE = 0.54, // the smallest scale at which names are read
  LARGER = 1.3; // how much larger they are written then
const TALL = 40000, // what is higher is set in columns
  MANY = 150, // boxes; more are not opened unasked
  PORT = [10, 0];
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
  }

  // ---- levels: sibling scopes, and the scopes inside them; a fold and the repeat that it shows count as one
  inner(scope) {
    const child = this.shown(scope)[0];
    if (scope.kind === FOLD && this.stage.isScope(child)) return this.inner(this.stage.scope(child));
    return this.shown(scope)
      .filter((id) => this.stage.isScope(id) && this.stage.scope(id).kind !== CROWD)
      .map((id) => this.stage.scope(id));
  }
  *waves(opened = () => true) {
    let wave = this.stage.scopes.filter((s) => s.kind === LANE).flatMap((s) => this.inner(s));
    while (wave.length) {
      yield wave;
      wave = wave.filter(opened).flatMap((s) => this.inner(s));
    }
  }
  get levels() {
    this.deep ??= [...this.waves()].length;
    return this.deep;
  }
  setLevel(level) {
    this.setAll(false);
    let at = 0;
    for (const wave of this.waves()) {
      if (++at > level) break;
      for (const s of wave) this.set(s, true);
    }
  }
  // Open as many scopes as fit into `wide` by `high` at a readable size. At each level open all siblings, else the
  // repeated ones, else the one that is larger than the others together. A scope that would be the only box of its lane
  // is always opened. Only scopes that `isEligible` accepts are opened.
  openInto(wide, high, isEligible = () => true) {
    for (const wave of this.waves((s) => this.open[s.i])) {
      const closed = wave.filter((s) => !this.open[s.i] && isEligible(s)),
        alone = closed.every((s) => this.stage.scopes[s.parent].children.every((id) => !this.beside(s, id))),
        beside = (s) => closed.reduce((sum, other) => sum + (other.lane === s.lane ? other.size : 0), 0);
      const choices = [closed, closed.filter((s) => s.kind === FOLD), closed.filter((s) => s.size * 2 > beside(s))],
        chosen = choices.some((group) => {
          for (const s of group) this.set(s, true);
          const stay = group.length && this.fits(wide, high, alone);
          if (!stay) for (const s of group) this.set(s, false);
          return stay;
        });
      if (closed.length && !chosen) break;
    }
    this.now();
  }
  beside(scope, id) {
    return id !== scope.id && !this.stage.isArgument(id);
  }
  fits(wide, high, anyhow) {
    let many = 0;
    for (const s of this.stage.scopes) if (this.open[s.i]) many += this.shown(s).length;
    if (many > MANY) return false;
    this.now();
    const { w, h } = this.extent();
    return anyhow || Math.min(wide / w, high / h) >= READABLE;
  }
  lanes() {
    return this.stage.scopes.filter((s) => s.kind === LANE && s.children.length);
  }
  // the size of the graph, and the free space above each lane
  extent() {
    const lanes = this.lanes().map((s) => this.kept[s.i]),
      top = lanes.length > 1 ? 46 : MARGIN,
      w = lanes.reduce((sum, r) => sum + Math.max(r.w, 110) + LANE_GAP, 2 * MARGIN - LANE_GAP);
    return { w: Math.max(w, 60), h: Math.max(0, ...lanes.map((r) => r.h)) + top + MARGIN, top };
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

  // Both lanes open and close together, otherwise their rows would not match.
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
  // A newly shown repeat is opened as far as the previous one.
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
  // Make an item visible: open its ancestors, and let folds show the repeat that contains it.
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
  // Return the visible box of an item: itself, or its closed ancestor; -1 if another repeat is shown.
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
      const head = textWidth(stage.title(id), "600 11px") * LARGER + 26 + extra;
      return [Math.max(kept.w + 2 * PAD, head), kept.h + HEADER + PAD];
    }
    const w = Math.max(
      textWidth(stage.title(id), "500 11px") * LARGER + (stage.isScope(id) ? 28 : 14),
      textWidth(stage.note(id), "9.5px") * LARGER + 14,
      60,
    );
    return [Math.ceil(w), LEAF];
  }

  // Compute outdated layouts. A generator, so that a large graph can be laid out in slices.
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
    const made = this.arrange(scope);
    this.keep([made], [scope]);
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
    alignRows(left, right, (id) => (stage.twin[id] >= 0 ? stage.twin[id] : stage.level[id]));
    left.with = b.i;
    right.with = f.i;
    this.keep([left, right], [f, b]);
    yield;
  }
  keep(made, scopes) {
    if (made[0].h > TALL && !made[0].deep) wrap(made);
    made.forEach((result, at) => {
      result.edges.forEach(({ port, rim }, i) => {
        const route = result.routes[i];
        if (port && route) port.x = rim === "into" ? route[0][0] : route[route.length - 1][0];
      });
      this.kept[scopes[at].i] = result;
    });
  }

  // Arrange the items of a scope: centres x and y, rows, and a route per edge. An edge is between two items {a, b}, or
  // between a port and an item; `rim` is then "into" or "out".
  arrange(scope, deep) {
    const { stage } = this,
      items = this.shown(scope),
      number = new Map(items.map((id, at) => [id, at])),
      sizes = items.map((id) => this.size(id)),
      edges = [];
    for (const e of scope.edges.values()) if (number.has(e.a) && number.has(e.b)) edges.push(e);
    const tall = sizes.reduce((sum, [, h]) => sum + h + GAP_Y, 0),
      crowd = scope.kind === CROWD || (scope.kind === FOLD && (!edges.length || tall > TALL));
    if (items.length > 9 && crowd) {
      const pairs = edges.map((e) => [number.get(e.a), number.get(e.b)]);
      return { ...columns(sizes, pairs, deep), items, number, sizes, edges, into: [], out: [] };
    }
    // Gradients flow upwards beside the forward lane. Repeats that have a twin are already in the order of the twin.
    const { into, out } = portsOf(stage, scope, items),
      backward = stage.scopes[scope.lane]?.name === "backward",
      upwards = backward && scope.kind === FOLD && stage.twin[scope.id] >= 0 && this.whole[scope.i] === 1,
      [above, below] = upwards ? [out, into] : [into, out],
      first = above.length,
      last = first + items.length,
      pairs = edges.map((e) => [first + number.get(e.a), first + number.get(e.b)]);
    const lines = (ports, start, rim) =>
      ports.forEach((port, at) => {
        port.top = (ports === above) !== (backward && !upwards);
        for (const [child, names] of port.lines) {
          const ends = rim === "into" ? [port.keys[0], child] : [child, port.keys[0]],
            pair = [start + at, first + number.get(child)];
          edges.push({ a: ends[0], b: ends[1], n: 1, names, port, rim });
          pairs.push(rim === "into" ? pair : pair.reverse());
        }
      });
    lines(into, upwards ? last : 0, "into");
    lines(out, upwards ? 0 : last, "out");
    const boxes = [...above.map(() => PORT), ...sizes, ...below.map(() => PORT)],
      result = layered(boxes, pairs, [first, below.length]);
    edges.forEach((e, i) => {
      const [a, b] = pairs[i],
        [from, to] = e.port ? named(stage, e.names.values().next().value) : [e.a, e.b];
      if (!e.port && a > b !== upwards) {
        edges[i] = { ...e, against: true }; // the order of execution: it meets no port
        return;
      }
      if (e.rim !== "into") shift(result, result.routes[i], a, this.portAt(e.a, "out", to));
      if (e.rim !== "out") shift(result, result.routes[i]?.slice().reverse(), b, this.portAt(e.b, "into", from));
    });
    bare(result, first, below.length, last);
    Object.assign(result, { items, number, sizes, edges, into, out });
    if (backward && !upwards) flip(result);
    return result;
  }
  // Return true if an edge crosses the rim of the box that it leads to.
  goesOn(e) {
    return !e.against && this.isOpen(e.b) && this.kept[this.stage.scope(e.b).i].into.length > 0;
  }
  // Return the distance from the middle of an open scope to the port of an edge.
  portAt(id, side, key) {
    if (!this.isOpen(id)) return 0;
    const kept = this.kept[this.stage.scope(id).i],
      port = kept[side].find((p) => p.keys.includes(key)) || kept[side].find((p) => p.keys.includes(HIDDEN));
    return port ? port.x - kept.w / 2 : 0;
  }
}

// Move the end of a route that is in the row of box i.
function shift({ rows, rank }, route, i, by) {
  if (!by) return;
  const { y, h } = rows[rank[i]];
  for (const p of route || []) {
    if (Math.abs(p[1] - y) > h / 2 + 0.5) return;
    p[0] += by;
  }
}

// Remove the rows of the ports: the rim of the scope replaces them.
function bare(result, first, below, last) {
  const above = first ? GAP_Y : 0,
    h = Math.max(0, result.h - above - (below ? GAP_Y : 0)),
    place = (y) => Math.min(h, Math.max(0, y - above));
  result.x = result.x.slice(first, last);
  result.y = result.y.slice(first, last).map((y) => y - above);
  result.rank = result.rank.slice(first, last).map((r) => r - +(first > 0));
  result.rows = result.rows
    .slice(+(first > 0), result.rows.length - +(below > 0))
    .map((row) => ({ y: row.y - above, h: row.h }));
  for (const route of result.routes) if (route) for (const p of route) p[1] = place(p[1]);
  result.h = h;
}
