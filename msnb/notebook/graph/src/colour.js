// Colour scales. Hues are from Okabe and Ito (distinguishable for colour-blind readers), scales go from light to dark.
import { textColour } from "../../src/text_colour.js";
import { FOLD, CROWD, CONTROL } from "./constants.js";

export { textColour };

// [fill, line] for light and for dark
const HUES = {
  blue: ["#e6f0fa", "#5b8fc0", "#1b2d3f", "#4f86b8"],
  orange: ["#fbeae0", "#cd7f52", "#3d291d", "#bd7850"],
  green: ["#e4f3ea", "#4f9a72", "#1c3327", "#4d946d"],
  purple: ["#efe9f8", "#9480c6", "#2d2740", "#8170b3"],
  yellow: ["#faf2d8", "#b8962e", "#37301a", "#a58a35"],
  grey: ["#f0f2f4", "#98a3ae", "#23282e", "#5f6a75"],
  pink: ["#f9e8f1", "#bf7096", "#38212d", "#ab6587"],
  teal: ["#e0f3f4", "#3f979b", "#18322f", "#448f8c"],
  red: ["#fde4e1", "#c62f26", "#4a1f1d", "#ef6f66"],
  plain: ["#ffffff", "#7b8793", "#16191d", "#8893a0"],
};
export function hue(name, dark) {
  const h = HUES[name];
  return dark ? [h[2], h[3]] : [h[0], h[1]];
}

const MOVES = new RegExp(
  "reshape|transpose|slice|concat|split|gather|pad$|tile|expand|squeeze|broadcast|cast|convert|copy|iota|select|" +
    "stack|flatten|depend|shape$|fill|zeros|ones|pack",
  "i",
);
const UPDATES = new RegExp(
  "apply|assign|optimi[sz]er|scatter|adam|ada(grad|delta|factor)|rmsprop|momentum|sgd|lars|lamb(?!da)|ftrl|rprop|" +
    "proximal",
  "i",
);
// between devices: XLA's, MindSpore's and JAX's names
const SENDS = new RegExp(
  "^(all-(reduce|gather|to-all)|reduce-scatter|collective-)|^(All(Reduce|Gather|Swap|[tT]oAll)|ReduceScatter|" +
    "Broadcast|NeighborExchange)|^(p(sum|max|min|permute)|all_gather|all_to_all|reduce_scatter)(_|$)",
);
export const CHECKS = /^Check(Labels|Indices)$/; // what msnb adds to a program, `core/operator/value_checks.py`
const KINDS = [
  ["communication", "red", SENDS],
  [
    "matrix products, convolutions",
    "orange",
    /conv(?!ert)|matmul|^dense|dot_general|einsum|linear$|lstm|gru|attention/i,
  ],
  ["normalisation, loss", "teal", /norm|crossentropy|loss|softmax$/i],
  ["reductions, pooling", "purple", /reduce|pool|sum$|mean$|argm|cum|topk|sort/i],
  ["optimizer, assignment", "green", UPDATES],
  ["checks of values", "grey", CHECKS],
  ["control flow", "yellow", /^switch|^while|^scan|^cond$/i],
  ["layout and data movement", "grey", MOVES],
  ["random numbers", "pink", /dropout|random|normal$|uniform|threefry|bernoulli/i],
  ["element by element", "blue", /./],
];
const kindOf = new Map();
function kind(op) {
  let found = kindOf.get(op);
  if (!found) {
    const bare = op.replace(/^grad/, "");
    kindOf.set(op, (found = KINDS.find((k) => k[2].test(bare))));
  }
  return found;
}

// Return [kind, [[operator, count]]] of a graph, for the filter.
export function census(stage) {
  const found = new Map(KINDS.map((k) => [k[0], new Map()]));
  for (let i = 0; i < stage.n; i++) {
    const op = stage.op(i).replace(/^grad/, ""),
      ops = found.get(kind(op)[0]);
    ops.set(op, (ops.get(op) || 0) + stage.timesOf(i));
  }
  return [...found]
    .filter((f) => f[1].size)
    .map(([name, ops]) => [name, [...ops].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))]);
}
export const kindName = (op) => kind(op)[0];

const DTYPES = [
  ["Float32", "blue"],
  ["Float16", "orange"],
  ["BFloat16", "yellow"],
  ["Float64", "pink"],
  ["Int64", "green"],
  ["Int32", "teal"],
  ["Bool", "purple"],
];

const RAMP_LIGHT = [
  [247, 244, 226],
  [233, 208, 130],
  [205, 142, 75],
  [148, 73, 71],
  [82, 28, 66],
];
const RAMP_DARK = [
  [38, 38, 46],
  [84, 42, 80],
  [156, 66, 84],
  [214, 130, 82],
  [244, 214, 140],
];
// Colours for negative and positive values.
const BOTH_LIGHT = [
  [33, 88, 158],
  [146, 184, 220],
  [245, 243, 238],
  [232, 170, 116],
  [166, 78, 20],
];
const BOTH_DARK = [
  [126, 178, 234],
  [54, 92, 138],
  [38, 40, 46],
  [140, 80, 40],
  [240, 160, 92],
];
export function ramp(t, dark) {
  return mix(dark ? RAMP_DARK : RAMP_LIGHT, t);
}
function mix(stops, t) {
  const at = Math.max(0, Math.min(1, t)) * (stops.length - 1),
    i = Math.min(stops.length - 2, Math.floor(at));
  return stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i)));
}

// Format numbers for people; the twin of msnb/ir/overlay.py.
const UNITS = ["", "k", "M", "G", "T", "P"],
  SECONDS = { s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };
const digits = (v) =>
  v === 0 ? "0" : Math.abs(v) < 0.01 ? v.toExponential(1) : Number.isInteger(v) ? String(v) : String(+v.toPrecision(3));
export function human(value, unit = "") {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Inf" : "-Inf";
  if (SECONDS[unit]) {
    const v = value * SECONDS[unit],
      size = Math.abs(v),
      [step, name] =
        size >= 1 || !v ? [1, "s"] : size >= 1e-3 ? [1e-3, "ms"] : size >= 1e-6 ? [1e-6, "µs"] : [1e-9, "ns"];
    return `${digits(v / step)} ${name}`;
  }
  let v = value,
    step = 0;
  while (Math.abs(v) >= 999.5 && step < UNITS.length - 1) {
    v /= 1000;
    step++;
  }
  return `${digits(v)}${step || unit ? " " : ""}${UNITS[step]}${unit}`;
}
// Format a value, with its share of the total if the scale is a sum.
export function written(scheme, id) {
  const value = scheme.of(id),
    all = scheme.total;
  return (
    human(value, scheme.unit) +
    (all > 0 && value >= 0
      ? `, ${value && value / all < 0.01 ? "under 1" : Math.round((100 * value) / all)} % of all`
      : "")
  );
}

// States of a node relative to the other graph: [label, hue, sign].
export const DIFFERENCES = {
  same: ["the same in both", "grey", ""],
  changed: ["changed attributes or types", "yellow", "~ "],
  fused: ["fused with others", "purple", "⊕ "],
  removed: ["removed", "orange", "− "],
  added: ["added", "teal", "+ "],
};

// A scheme has (item) => {fill, line, ink} and a legend for the panel.
export function schemes(stage) {
  const list = [
    { key: "kind", label: "operator type" },
    { key: "dtype", label: "dtype" },
    {
      key: "flops",
      label: "FLOPs",
      unit: "FLOP",
      of: (id) => (stage.isScope(id) ? stage.scope(id).flops : stage.sigOf(id).flops),
    },
    {
      key: "bytes",
      label: "bytes",
      unit: "B",
      of: (id) => (stage.isScope(id) ? stage.scope(id).bytes : stage.sigOf(id).bytes),
    },
  ];
  if (!stage.ids && stage.n) {
    // Without the repeats it is unknown which values they keep alive.
    const peaks = new Array(stage.scopes.length).fill(0);
    list.push({
      key: "memory",
      label: "memory alive",
      unit: "B",
      of: (id) => {
        if (!peaks[0])
          for (let i = 0; i < stage.n; i++)
            for (let s = stage.scopes[stage.scopeOf[i]]; s; s = stage.scopes[s.parent])
              peaks[s.i] = Math.max(peaks[s.i], stage.alive[i]);
        return stage.isScope(id) ? peaks[stage.scope(id).i] : stage.alive[id];
      },
      shown: true,
      note: () => "",
    });
  }
  const sent = sentBy(stage);
  if (sent.some((v) => v !== null))
    list.push({
      key: "sent",
      label: "bytes sent",
      unit: "B",
      of: overlay(stage, { values: sent }),
      lines: true,
      isScope: (id) => stage.isScope(id) || stage.isArgument(id),
    });
  for (const s of list) if (s.of) s.log = s.key !== "memory";
  for (const [key, column] of Object.entries(stage.columns)) {
    const of = overlay(stage, column);
    list.push({
      key,
      label: column.label || key,
      unit: column.unit || "",
      of,
      log: column.scale === "log",
      own: true,
      total: column.fold === "sum" ? of(stage.scopes[0].id) : 0,
      note: (id) => column.note?.[id] || "",
    });
  }
  return list;
}

// Bytes that each device sends for a node of a program on several devices; null if it sends none.
function sentBy(stage) {
  const known = stage.sigs.map((sig) => sig.attrs.find(([key]) => key === "bytes_sent")?.[1] ?? null);
  return Array.from({ length: stage.n }, (_, i) => (known[stage.sig[i]] === null ? null : Number(known[stage.sig[i]])));
}

const COMBINATIONS = {
  sum: (a, b) => a + b,
  max: (a, b) => (Number.isNaN(a) || a > b ? a : b),
  largest: (a, b) => (Number.isNaN(a) || Math.abs(a) > Math.abs(b) ? a : b),
};

// An overlay of one value per node. A scope shows the sum, or the largest value where a sum has no meaning.
function overlay(stage, column) {
  const number = (v) => (typeof v === "string" ? (v === "nan" ? NaN : v === "inf" ? Infinity : -Infinity) : v);
  const values = column.values.map(number),
    combine = COMBINATIONS[column.fold || "sum"];
  // The values of a scope include nodes that are not in this payload.
  if (stage.ids && values.length === stage.total) return (id) => (stage.isScope(id) ? null : values[stage.ids[id]]);
  if (column.scopes) {
    const sums = column.scopes.map(number);
    return (id) => (stage.isScope(id) ? sums[stage.scope(id).i] : values[id]);
  }
  const sums = new Array(stage.scopes.length).fill(null);
  for (let i = 0; i < stage.n; i++) {
    const v = values[i];
    if (v === null || v === undefined) continue;
    for (let s = stage.scopes[stage.scopeOf[i]]; s; s = stage.scopes[s.parent])
      sums[s.i] = sums[s.i] === null ? v : combine(sums[s.i], v);
  }
  return (id) => (stage.isScope(id) ? sums[stage.scope(id).i] : values[id]);
}

// diff: {state(id), second}; other: the difference of the other graph
export function differencePainter(stage, diff, other, dark) {
  const kindOf = (i) => {
    const s = diff.state(i);
    return s === "only" ? (diff.second ? "added" : "removed") : s;
  };
  const sums = stage.scopes.map(() => new Set());
  for (let i = 0; i < stage.n; i++) {
    const k = kindOf(i);
    for (let s = stage.scopes[stage.scopeOf[i]]; s; s = stage.scopes[s.parent]) sums[s.i].add(k);
  }
  const box = (k) => {
    const [fill, line] = hue(DIFFERENCES[k][1], dark);
    return { fill, line, sign: DIFFERENCES[k][2] };
  };
  const mixed = (set) => {
    const rest = [...set].filter((k) => k !== "same");
    return rest.length ? (rest.length === 1 ? rest[0] : "changed") : "same";
  };
  const counts = {},
    count = (k, n) => {
      counts[k] = (counts[k] || 0) + n;
    };
  for (let i = 0; i < stage.n; i++) count(kindOf(i), 1);
  for (let i = 0; i < other.n; i++) if (other.diff.state(i) === "only") count(diff.second ? "removed" : "added", 1);
  return {
    style: (id) => box(stage.isScope(id) ? mixed(sums[stage.scope(id).i]) : kindOf(id)),
    kindOf,
    legend: Object.keys(DIFFERENCES)
      .filter((k) => counts[k])
      .map((k) => [DIFFERENCES[k][2] + DIFFERENCES[k][0], ...hue(DIFFERENCES[k][1], dark), counts[k]]),
  };
}

// drawn: the closed boxes; the scale ends at the largest of them, so that it is never all dark or all light
export function painter(stage, scheme, dark, drawn) {
  if (scheme.of) return scale(scheme, dark, drawn);
  const box = (name) => {
    const [fill, line] = hue(name, dark);
    return { fill, line };
  };
  const scopeStyle = (id) => {
    const s = stage.scope(id);
    if (s.kind === CROWD) return scheme.key === "kind" ? box(kind(stage.op(s.children[0]))[1]) : box("grey");
    return s.kind === FOLD
      ? box("purple")
      : s.kind === CONTROL
        ? box("yellow")
        : dark
          ? { fill: "#20272f", line: "#5c7187" }
          : { fill: "#eef2f6", line: "#8fa3b8" };
  };
  const used = new Map();
  if (scheme.key === "dtype") {
    const name = (id) => {
      const t = stage.sigOf(id).outs[0] || "";
      return t.slice(0, t.indexOf("[")) || "none";
    };
    const colour = (t) => (DTYPES.find((d) => d[0] === t) || [t, "grey"])[1];
    for (let i = 0; i < stage.n; i++) {
      const t = name(i);
      used.set(t, colour(t));
    }
    return {
      style: (id) => (stage.isScope(id) ? scopeStyle(id) : box(colour(name(id)))),
      legend: [...used].map(([label, c]) => [label, ...hue(c, dark)]),
    };
  }
  for (const sig of stage.sigs) {
    const k = kind(sig.op);
    used.set(k[0], k[1]);
  }
  return {
    style: (id) => (stage.isScope(id) ? scopeStyle(id) : box(kind(stage.op(id))[1])),
    legend: KINDS.filter((k) => used.has(k[0])).map((k) => [k[0], ...hue(k[1], dark)]),
  };
}

const DECADES = 1e6;
const SEEN = 0.55; // where on the scale a thin line differs three times from what is behind it, in light and in dark
function scale(scheme, dark, drawn) {
  let top = -Infinity,
    low = Infinity,
    least = Infinity;
  for (const id of drawn) {
    const v = scheme.of(id);
    if (v === null || !Number.isFinite(v)) continue;
    top = Math.max(top, v);
    low = Math.min(low, v);
    if (v > 0) least = Math.min(least, v);
  }
  if (top === -Infinity) top = low = 0;
  const both = !scheme.log && low < 0; // also without positive values: dark is far from 0
  if (scheme.log) low = Math.max(least === Infinity ? top / 10 : least, top / DECADES);
  else if (both) low = -(top = Math.max(top, -low));
  else {
    low = Math.min(low, 0);
    top = Math.max(top, 0);
  }
  const wide = low > 0 && top > low ? Math.log(top / low) : 0;
  const place = scheme.log
    ? (v) => (v > 0 ? (wide ? Math.min(1, Math.max(0.06, Math.log(v / low) / wide)) : 1) : 0)
    : (v) => (top > low ? (v - low) / (top - low) : 0);
  const colour = (t) => (both ? mix(dark ? BOTH_DARK : BOTH_LIGHT, t) : ramp(t, dark)),
    [grey, line] = hue("grey", dark);
  return {
    style: (id) => {
      const v = scheme.of(id);
      if (v === null || v === undefined) return { fill: grey, line, dash: true };
      const rgb = Number.isFinite(v) ? colour(place(v)) : [200, 30, 120];
      return { fill: `rgb(${rgb})`, line: dark ? "#6b7682" : "#98a3ae", ink: textColour(rgb) };
    },
    note: (id) => {
      const v = scheme.of(id);
      return v === null || v === undefined ? "" : human(v, scheme.unit);
    },
    // [colour, width] of a line to or from a node with a value; scopes in between have no value of their own
    line: ({ a, b }) => {
      const values = scheme.lines ? [a, b].filter((id) => !scheme.isScope(id)).map(scheme.of) : [];
      const most = Math.max(...values.map((v) => v ?? -1), -1);
      return most < 0 ? null : [`rgb(${colour(Math.max(SEEN, place(most)))})`, 1.5 + 2.5 * place(most)];
    },
    ramp: {
      stops: [0, 0.25, 0.5, 0.75, 1].map((t) => `rgb(${colour(t)})`),
      low: human(low, scheme.unit),
      high: human(top, scheme.unit),
      log: scheme.log,
    },
  };
}
