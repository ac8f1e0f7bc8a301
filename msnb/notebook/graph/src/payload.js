// Decodes the payload of msnb.ir.payload: columns of small differences, gzipped.
// Nodes have the ids 0..n-1, scope s has the id n+s, and arguments follow the scopes: one integer identifies any box.
import { bytesOf, unzip } from "../../src/bytes.js";
import { append, CONTROL, FOLD, LANE, LONE, ROOT, SCOPE } from "./constants.js";
import { pairLanes } from "./lane_pairs.js";
import { outputLabel, noteOf, titleOf } from "./labels.js";

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
  for (let i = 0; i < from.length; i++) {
    append(forth, from[i], to[i]);
    append(back, to[i], from[i]);
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
// Return {values, bytes} of a type such as Float32[2, 3].
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
    this.params = raw.params.map(([name, type, weight, grad, whole]) => ({
      name,
      type,
      weight: !!weight,
      grad: !!grad,
      whole: whole ? ` of ${whole.join("×") || "one"}` : "", // of which this is what one device has
    }));
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
    this.resultNames = raw.results ?? [];
    this.returned = new Set(raw.outputs.map(([ref, slot]) => (typeof slot === "string" ? -1 : ref)));
    this.scopeOf = running(nodes.scope);
    this.sig = running(nodes.sig);
    this.src = running(nodes.src);
    // A payload without repeats has the ids in the complete graph, and the number of nodes that each node represents.
    this.ids = nodes.id ? running(nodes.id) : null;
    this.times = nodes.times || null;
    this.total = this.times ? this.times.reduce((a, b) => a + b, 0) : n;
    this.readInputs(nodes.ins, raw.extra);
    this.most = n + raw.scopes.name.length + this.params.length + raw.outputs.length; // ids there can be
    this.readScopes(raw.scopes);
    this.eachEdge((a, b) => this.lift(a, b));
    pairLanes(this);
    this.placeArguments(raw.written || 0);
    // The node at which tracing ended with an error, and the scopes around it.
    this.problem = raw.problem ? { id: raw.problem[0], said: raw.problem[1] } : null;
    this.failing = new Set(this.problem ? [this.problem.id, ...this.chain(this.problem.id).map((s) => s.id)] : []);
  }

  // A constant input has no producer. It is only in the signature, marked by "=".
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
    this.extraInto = new Map();
    for (const [a, b] of extra) append(this.extraInto, b, a);
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

  // Bytes of the live results while each node runs: computed by then, and read then or later.
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

  readScopes({ name, parent, kind, count, path }) {
    const n = this.n;
    this.scopes = name.map((label, i) => ({
      i,
      id: n + i,
      name: label,
      path: path?.[i] || "", // as the user wrote it: layer3.2.conv2
      title: path?.[i]?.replace(/^\./, "") || label,
      parent: parent[i],
      kind: kind[i],
      children: [],
      edges: new Map(),
      into: [],
      out: [],
      size: 0,
      last: -1,
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
        if (scope.kind !== LONE) above.children.push(scope.id);
        scope.depth = above.depth + 1;
        if (scope.path.startsWith(".")) scope.path = this.around(above) + scope.path;
        scope.lane = scope.kind === LANE ? scope.i : above.lane;
      }
    for (let i = 0; i < n; i++) {
      const own = this.sigs[this.sig[i]],
        times = this.timesOf(i);
      this.frameOf(i).children.push(i);
      for (let s = this.scopes[this.scopeOf[i]]; s; s = this.scopes[s.parent]) {
        s.size += times;
        s.flops += own.flops * times;
        s.bytes += own.bytes * times;
        if (i < s.start) s.start = i;
        s.last = i;
      }
    }
    // The node that gives the result of a loop or branch is below its bodies.
    const first = (id) => (id >= n ? this.scopes[id - n].start : this.extraInto.has(id) ? n : id);
    for (const scope of this.scopes)
      if (scope.kind !== FOLD && scope.kind !== ROOT) scope.children.sort((a, b) => first(a) - first(b));
  }

  // The Cell that is drawn as this one operator; null if there is none.
  lone(id) {
    const scope = id < this.n ? this.scopes[this.scopeOf[id]] : null;
    return scope?.kind === LONE ? scope : null;
  }
  // The innermost scope in which a node is drawn.
  frameOf(id) {
    const scope = this.scopes[this.scopeOf[id]];
    return scope.kind === LONE ? this.scopes[scope.parent] : scope;
  }

  // An edge belongs to the innermost scope that contains both ends, between its two children. Each scope in between
  // lists what crosses its rim as [outside box, own child, node].
  lift(a, b) {
    const { scopes } = this,
      left = [],
      entered = [];
    let s = this.home(a),
      t = this.home(b),
      from = a,
      to = b;
    while (s !== t) {
      const deeper = s.depth - t.depth;
      if (deeper >= 0) {
        left.push(s, from);
        from = s.id;
        s = scopes[s.parent];
      }
      if (deeper <= 0) {
        entered.push(t, to);
        to = t.id;
        t = scopes[t.parent];
      }
    }
    if (from === to) return;
    const key = from * this.most + to,
      known = s.edges.get(key);
    if (known) known.n++;
    else s.edges.set(key, { a: from, b: to, n: 1 });
    if (s.kind === ROOT) return; // between two lanes
    for (let i = 0; i < left.length; i += 2) left[i].out.push([to, left[i + 1], a]);
    for (let i = 0; i < entered.length; i += 2) entered[i].into.push([from, entered[i + 1], b]);
  }

  // Inputs of the program are above the forward lane, results below the lane that computes them. Weights are drawn
  // beside their readers, and their new values beside the nodes that compute them.
  placeArguments(written) {
    const readers = this.params.map(() => []),
      lane = this.forward || this.scopes[1];
    this.args = [];
    this.argumentOf = new Map();
    this.resultsOf = new Map();
    this.firstArgument = this.n + this.scopes.length;
    if (!lane) return;
    for (let i = 0; i < this.n; i++)
      for (const ref of this.inputs(i)) if (ref < 0 && !this.params[-1 - ref].weight) readers[-1 - ref].push(i);
    const read = this.params
      .map((_, p) => p)
      .filter((p) => readers[p].some((i) => this.scopes[this.scopeOf[i]].lane === lane.i));
    if (read.length <= MOST_ENDS)
      read.forEach((p, k) => {
        const id = this.firstArgument + k;
        this.argumentOf.set(-1 - p, id);
        this.args.push({ ...this.params[p], readers: readers[p], inputs: [], lane });
        for (const reader of readers[p]) if (this.scopes[this.scopeOf[reader]].lane === lane.i) this.lift(id, reader);
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
          name: this.resultNames[k] ?? (this.outputs.length - written > 1 ? `result[${k}]` : "result"),
          type: this.sigOf(ref).outs[slot] || "",
          readers: [],
          inputs: [ref],
          lane: where,
          result: true,
        });
        append(this.resultsOf, ref, id);
        this.lift(ref, id);
        where.children.push(id);
      }
  }

  // The number of ids in use.
  get ends() {
    return this.firstArgument + this.args.length;
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
    return this.isScope(id) ? this.scopes[this.scope(id).parent] : this.frameOf(id);
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
  // Ids that a node reads: nodes, and inputs of the program; no weights.
  *sources(id) {
    for (const ref of this.inputs(id)) {
      if (ref >= 0) yield ref;
      else if (this.argumentOf.has(ref)) yield this.argumentOf.get(ref);
    }
    yield* this.extraInto.get(id) || [];
  }
  *users(id) {
    yield* this.readers(id);
    yield* this.resultsOf.get(id) || [];
  }
  chain(id) {
    const up = [];
    for (let s = this.home(id); s && s.kind !== ROOT; s = this.scopes[s.parent]) up.unshift(s);
    return up;
  }
  // The path of a scope in the user's network, without scopes that exist only in the drawing.
  path(id) {
    return [...this.chain(id), this.lone(id)]
      .filter((s) => s?.kind === SCOPE || s?.kind === CONTROL || s?.kind === LONE)
      .map((s) => s.name)
      .join("/");
  }
  // The attribute path of the Cell that an item is or belongs to.
  where(id) {
    return (this.isScope(id) && this.scope(id).path) || this.around(this.home(id));
  }
  around(scope) {
    for (let s = scope; s; s = this.scopes[s.parent]) if (s.path && s.kind !== FOLD) return s.path;
    return "";
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
    return titleOf(this, id);
  }
  // `given` replaces the result in the note.
  note(id, given = outputLabel(this, id)) {
    return noteOf(this, id, given);
  }
}
