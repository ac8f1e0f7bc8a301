// Decodes the payload of msnb.ir.payload: columns of small differences, gzipped.
// Nodes are numbered 0..n-1; scope s is item n+s, and arguments come after the scopes, so that one integer names
// anything that can be drawn as a box.
import { bytesOf, unzip } from "../../src/bytes.js";

export const ROOT = 0,
  LANE = 1,
  SCOPE = 2,
  CONTROL = 3,
  FOLD = 4,
  UNIT = 5,
  CROWD = 6,
  PAGE = 7;

export async function unpack(bytes) {
  return JSON.parse(await unzip(bytesOf(bytes)));
}

export async function decode(bytes) {
  const data = await unpack(bytes);
  return { ...data, stages: data.stages.map((stage) => new Stage(stage)), diffs: (data.diffs || []).map(unpackDiff) };
}

const STATES = { s: "same", c: "changed", f: "fused", o: "only" };
function unpackDiff({ a, b, links, first, second }) {
  const from = running(links[0]),
    to = running(links[1]),
    forth = new Map(),
    back = new Map();
  const put = (map, key, value) => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  for (let i = 0; i < from.length; i++) {
    put(forth, from[i], to[i]);
    put(back, to[i], from[i]);
  }
  return {
    a,
    b,
    sides: [
      { links: forth, state: (i) => STATES[first[i]] },
      { links: back, state: (i) => STATES[second[i]] },
    ],
  };
}

function running(differences) {
  const values = new Int32Array(differences.length);
  let last = 0;
  for (let i = 0; i < values.length; i++) values[i] = last += differences[i];
  return values;
}

const WIDTH = {
  Float64: 8,
  Int64: 8,
  UInt64: 8,
  Complex64: 8,
  Complex128: 16,
  Float16: 2,
  BFloat16: 2,
  Int16: 2,
  UInt16: 2,
  Int8: 1,
  UInt8: 1,
  Int4: 1,
  UInt4: 1,
  Bool: 1,
};
// {values, bytes} of a type such as Float32[2, 3]
export function sizeOf(type) {
  const cut = type.indexOf("["),
    shape = type.slice(cut + 1, -1),
    values = shape ? shape.split(", ").reduce((a, b) => a * b, 1) : 1;
  return cut < 0 ? { values: 0, bytes: 0 } : { values, bytes: values * (WIDTH[type.slice(0, cut)] || 4) };
}

const MOST_ENDS = 12; // inputs, or results, that are drawn as boxes
// One graph: typed arrays per node, and the scope tree.
export class Stage {
  constructor(raw) {
    const nodes = raw.nodes,
      n = nodes.scope.length;
    this.name = raw.name;
    this.graph = raw.graph;
    this.n = n;
    this.compiled = !!raw.compiled;
    this.params = raw.params.map(([name, type, weight, grad]) => ({ name, type, weight: !!weight, grad: !!grad }));
    this.sigs = raw.sigs.map(([op, ins, outs, attrs, flops, bytes, main]) => ({
      op,
      ins,
      outs,
      attrs,
      flops,
      bytes,
      main,
    }));
    this.srcs = raw.srcs;
    this.columns = raw.columns;
    this.outputs = raw.outputs;
    this.scopeOf = running(nodes.scope);
    this.sig = running(nodes.sig);
    this.src = running(nodes.src);
    // a copy in which repeats are left out: numbers in the whole graph, and how many nodes each one stands for
    this.ids = nodes.id ? running(nodes.id) : null;
    this.times = nodes.times || null;
    this.total = this.times ? this.times.reduce((a, b) => a + b, 0) : n;
    this.readInputs(nodes.ins, raw.extra);
    this.readScopes(raw.scopes);
    this.liftEdges();
    this.findTwins();
    this.placeArguments(raw.written || 0);
  }

  // a constant input has no producer and stands in the signature only, marked by "="
  readInputs(packed, extra) {
    const n = this.n,
      start = (this.inStart = new Int32Array(n + 1)),
      refs = (this.ins = new Int32Array(packed.length));
    let at = 0;
    for (let i = 0; i < n; i++) {
      start[i] = at;
      for (const kind of this.sigs[this.sig[i]].ins) {
        if (kind[0] === "=") continue;
        const difference = packed[at];
        refs[at++] = difference < 0 ? difference : i - difference; // below zero: parameter -1, -2, ...
      }
    }
    start[n] = at;
    this.extra = extra;
    const count = new Int32Array(n + 1);
    this.eachEdge((a) => count[a + 1]++);
    for (let i = 0; i < n; i++) count[i + 1] += count[i];
    this.outStart = count.slice();
    this.outs = new Int32Array(count[n]);
    this.eachEdge((a, b) => {
      this.outs[count[a]++] = b;
    });
  }

  eachEdge(visit) {
    for (let i = 0; i < this.n; i++)
      for (let k = this.inStart[i]; k < this.inStart[i + 1]; k++) if (this.ins[k] >= 0) visit(this.ins[k], i);
    for (const [a, b] of this.extra) visit(a, b);
  }

  // bytes of the results that exist while each node runs: made by then, and read then or later
  get alive() {
    if (this.living) return this.living;
    const { n } = this,
      ends = new Map(),
      change = new Float64Array(n + 1);
    const use = (i, slot, at) => {
      const key = i * 64 + Math.min(slot, 63);
      if ((ends.get(key) ?? -1) < at) ends.set(key, at);
    };
    for (let i = 0; i < n; i++) {
      let at = this.inStart[i];
      for (const kind of this.sigOf(i).ins) {
        if (kind[0] === "=") continue;
        const ref = this.ins[at++];
        if (ref >= 0) use(ref, +(kind.match(/@(\d+)$/)?.[1] ?? 0), i);
      }
    }
    for (const [a, b] of this.extra) use(a, 0, b);
    for (const [ref, slot] of this.outputs)
      if (ref >= 0 && ref < n && typeof slot !== "string") use(ref, slot || 0, n - 1);
    for (let i = 0; i < n; i++)
      this.sigOf(i).outs.forEach((type, slot) => {
        const { bytes } = sizeOf(type),
          end = ends.get(i * 64 + Math.min(slot, 63)) ?? i;
        change[i] += bytes;
        change[Math.max(end, i) + 1] -= bytes;
      });
    this.living = new Float64Array(n);
    let sum = 0;
    for (let i = 0; i < n; i++) this.living[i] = sum += change[i];
    return this.living;
  }

  number(id) {
    return this.ids ? this.ids[id] : id;
  }
  timesOf(id) {
    return this.times ? this.times[id] : 1;
  }

  readScopes({ name, parent, kind, count }) {
    const n = this.n;
    this.scopes = name.map((label, i) => ({
      i,
      id: n + i,
      name: label,
      parent: parent[i],
      kind: kind[i],
      children: [],
      edges: new Map(),
      size: 0,
      start: n,
      depth: 0,
      flops: 0,
      bytes: 0,
      lane: -1,
      count: count ? count[i] : 0,
    }));
    for (const scope of this.scopes)
      if (scope.parent >= 0) {
        const above = this.scopes[scope.parent];
        above.children.push(scope.id);
        scope.depth = above.depth + 1;
        scope.lane = scope.kind === LANE ? scope.i : above.lane;
      }
    for (let i = 0; i < n; i++) {
      const own = this.sigs[this.sig[i]],
        times = this.timesOf(i);
      this.scopes[this.scopeOf[i]].children.push(i);
      for (let s = this.scopes[this.scopeOf[i]]; s; s = this.scopes[s.parent]) {
        s.size += times;
        s.flops += own.flops * times;
        s.bytes += own.bytes * times;
        if (i < s.start) s.start = i;
      }
    }
    const first = (id) => (id < n ? id : this.scopes[id - n].start);
    // a loop or branch ends in the node that gives its result, below its bodies
    const holds = (scope) =>
      scope.kind === CONTROL && scope.children.some((id) => id >= n && this.scopes[id - n].kind === CONTROL);
    for (const scope of this.scopes)
      if (scope.kind !== FOLD && scope.kind !== ROOT && !holds(scope))
        scope.children.sort((a, b) => first(a) - first(b));
  }

  // every edge belongs to the innermost scope that holds both ends, between its two children
  liftEdges() {
    const { scopes, scopeOf, n } = this,
      total = n + scopes.length;
    this.eachEdge((a, b) => {
      let s = scopes[scopeOf[a]],
        t = scopes[scopeOf[b]],
        from = a,
        to = b;
      while (s.depth > t.depth) {
        from = s.id;
        s = scopes[s.parent];
      }
      while (t.depth > s.depth) {
        to = t.id;
        t = scopes[t.parent];
      }
      while (s !== t) {
        from = s.id;
        s = scopes[s.parent];
        to = t.id;
        t = scopes[t.parent];
      }
      if (from === to) return;
      const key = from * total + to,
        known = s.edges.get(key);
      if (known) known.n++;
      else s.edges.set(key, { a: from, b: to, n: 1 });
    });
  }

  // what stands on the same row in the other lane: scopes by name, calls of one operator by their order
  findTwins() {
    this.twin = new Int32Array(this.n + this.scopes.length).fill(-1);
    const lane = (name) => this.scopes.find((s) => s.kind === LANE && s.name === name);
    this.forward = lane("forward");
    this.backward = lane("backward");
    this.update = lane("update");
    // XLA runs its kernels in an order of its own, so there are no rows to match
    if (this.forward && this.backward && !this.compiled) this.matchScopes(this.forward, this.backward);
  }

  matchScopes(f, b) {
    this.twin[f.id] = b.id;
    this.twin[b.id] = f.id;
    const names = new Map(),
      calls = new Map();
    for (const id of b.children) {
      if (id >= this.n) names.set(this.scopes[id - this.n].name, id);
      else {
        const op = this.op(id).replace(/^grad/, "");
        (calls.get(op) || calls.set(op, []).get(op)).push(id);
      }
    }
    for (const id of f.children) {
      if (id >= this.n) {
        const own = this.scopes[id - this.n],
          mate = names.get(own.name);
        if (mate !== undefined && this.scopes[mate - this.n].kind === own.kind)
          this.matchScopes(own, this.scopes[mate - this.n]);
      } else {
        const mate = calls.get(this.op(id))?.pop(); // gradients come in the opposite order
        if (mate !== undefined) {
          this.twin[id] = mate;
          this.twin[mate] = id;
        }
      }
    }
  }

  // what the program is called with stands on top of the forward lane, what it returns below the lane that makes it;
  // weights are shown where they are read, and their new values where they are made
  placeArguments(written) {
    const readers = this.params.map(() => []),
      lane = this.forward || this.scopes[1];
    this.args = [];
    this.firstArgument = this.n + this.scopes.length;
    if (!lane) return;
    for (let i = 0; i < this.n; i++)
      for (const ref of this.inputs(i)) if (ref < 0 && !this.params[-1 - ref].weight) readers[-1 - ref].push(i);
    const read = this.params
      .map((_, p) => p)
      .filter((p) => readers[p].some((i) => this.scopes[this.scopeOf[i]].lane === lane.i));
    const total = this.firstArgument + this.params.length + this.outputs.length;
    const link = (a, b, where) => {
      const key = a * total + b,
        known = where.edges.get(key);
      if (known) known.n++;
      else where.edges.set(key, { a, b, n: 1 });
    };
    const below = (id, where) => {
      let at = id,
        s = this.scopes[this.scopeOf[id]];
      while (s !== where) {
        at = s.id;
        s = this.scopes[s.parent];
      }
      return at;
    };
    if (read.length <= MOST_ENDS)
      read.forEach((p, k) => {
        const id = this.firstArgument + k;
        this.args.push({ name: this.params[p].name, type: this.params[p].type, readers: readers[p], inputs: [], lane });
        for (const reader of readers[p])
          if (this.scopes[this.scopeOf[reader]].lane === lane.i) link(id, below(reader, lane), lane);
      });
    lane.children.unshift(...this.args.map((_, k) => this.firstArgument + k));
    const results = this.outputs
      .slice(0, this.outputs.length - written)
      .map(([ref, slot], k) => ({ ref, slot: slot || 0, k }))
      .filter((o) => typeof o.slot === "number" && o.ref >= 0 && o.ref < this.n);
    if (results.length <= MOST_ENDS)
      for (const { ref, slot, k } of results) {
        const where = this.scopes[this.scopes[this.scopeOf[ref]].lane],
          id = this.firstArgument + this.args.length;
        if (!where) continue;
        this.args.push({
          name: this.outputs.length - written > 1 ? `result ${k}` : "result",
          type: this.sigOf(ref).outs[slot] || "",
          readers: [],
          inputs: [ref],
          lane: where,
          result: true,
        });
        link(below(ref, where), id, where);
        where.children.push(id);
      }
  }

  isArgument(id) {
    return id >= this.firstArgument;
  }
  argument(id) {
    return this.args[id - this.firstArgument];
  }
  isScope(id) {
    return id >= this.n && !(id >= this.firstArgument);
  }
  scope(id) {
    return this.scopes[id - this.n];
  }
  op(id) {
    return this.sigs[this.sig[id]].op;
  }
  sigOf(id) {
    return this.sigs[this.sig[id]];
  }
  sourceOf(id) {
    return this.srcs[this.src[id]];
  }
  home(id) {
    if (this.isArgument(id)) return this.argument(id).lane;
    return this.isScope(id) ? this.scopes[this.scope(id).parent] : this.scopes[this.scopeOf[id]];
  }
  laneOf(id) {
    if (this.isArgument(id)) return this.argument(id).lane.name;
    const s = this.isScope(id) ? this.scope(id) : this.scopes[this.scopeOf[id]];
    return this.scopes[s.lane]?.name || "forward";
  }
  inputs(id) {
    return this.isArgument(id)
      ? this.argument(id).inputs
      : id >= this.n
        ? []
        : this.ins.subarray(this.inStart[id], this.inStart[id + 1]);
  }
  readers(id) {
    return this.isArgument(id)
      ? this.argument(id).readers
      : this.outs.subarray(this.outStart[id], this.outStart[id + 1]);
  }
  chain(id) {
    const up = [];
    for (let s = this.home(id); s && s.kind !== ROOT; s = this.scopes[s.parent]) up.unshift(s);
    return up;
  }
  // the scope as the network's author knows it, without boxes that only the drawing has
  path(id) {
    return this.chain(id)
      .filter((s) => s.kind === SCOPE || s.kind === CONTROL)
      .map((s) => s.name)
      .join("/");
  }
  *below(scope) {
    const stack = [...scope.children].reverse();
    while (stack.length) {
      const id = stack.pop();
      if (id < this.n) yield id;
      else if (this.isScope(id)) stack.push(...this.scope(id).children.slice().reverse());
    }
  }
  title(id) {
    if (id < this.n) return this.op(id);
    if (this.isArgument(id)) return this.argument(id).name;
    const s = this.scope(id);
    return s.kind === UNIT ? `repeat ${+s.name + 1}` : s.name || this.graph;
  }
  note(id) {
    if (this.isScope(id)) {
      const s = this.scope(id);
      return s.kind === FOLD || s.kind === CROWD
        ? `× ${s.count || s.children.length}`
        : `${s.size} ${s.size === 1 ? "node" : "nodes"}`;
    }
    const { outs, main } = this.isArgument(id) ? { outs: [this.argument(id).type], main: 0 } : this.sigOf(id),
      type = outs[main];
    if (!type) return "";
    const shape = type.slice(type.indexOf("[") + 1, -1);
    return shape ? shape.replaceAll(", ", "×") : type.slice(0, type.indexOf("["));
  }
}
