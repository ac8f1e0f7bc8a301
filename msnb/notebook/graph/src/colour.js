// What a box is coloured by. Hues are Okabe and Ito's (told apart by colour-blind readers), scales go from light to dark.
import { FOLD, CROWD, CONTROL } from "./payload.js";

// [fill, line] for light and for dark
const HUES = {
  blue: ["#e6f0fa", "#5b8fc0", "#1b2d3f", "#4f86b8"], orange: ["#fbeae0", "#cd7f52", "#3d291d", "#bd7850"],
  green: ["#e4f3ea", "#4f9a72", "#1c3327", "#4d946d"], purple: ["#efe9f8", "#9480c6", "#2d2740", "#8170b3"],
  yellow: ["#faf2d8", "#b8962e", "#37301a", "#a58a35"], grey: ["#f0f2f4", "#98a3ae", "#23282e", "#5f6a75"],
  pink: ["#f9e8f1", "#bf7096", "#38212d", "#ab6587"], teal: ["#e0f3f4", "#3f979b", "#18322f", "#448f8c"],
  plain: ["#ffffff", "#7b8793", "#16191d", "#8893a0"],
};
export function hue(name, dark) { const h = HUES[name]; return dark ? [h[2], h[3]] : [h[0], h[1]]; }

const KINDS = [
  ["matrix products, convolutions", "orange", /conv(?!ert)|matmul|^dense|dot_general|einsum|linear$|lstm|gru|attention/i],
  ["normalisation, loss", "teal", /norm|crossentropy|loss|softmax$/i],
  ["reductions, pooling", "purple", /reduce|pool|sum$|mean$|argm|cum|topk|sort/i],
  ["optimizer, assignment", "green", /apply|assign|adam|momentum|optimizer|scatter/i],
  ["control flow", "yellow", /^switch|^while|^scan|^cond$/i],
  ["layout and data movement", "grey", /reshape|transpose|slice|concat|split|gather|pad$|tile|expand|squeeze|broadcast|cast|convert|copy|iota|select|stack|flatten|depend|shape$|fill|zeros|ones|pack/i],
  ["random numbers", "pink", /dropout|random|normal$|uniform|threefry|bernoulli/i],
  ["element by element", "blue", /./],
];
const kindOf = new Map();
function kind(op) {
  let found = kindOf.get(op);
  if (!found) { const bare = op.replace(/^grad/, ""); kindOf.set(op, found = KINDS.find(k => k[2].test(bare))); }
  return found;
}

const DTYPES = [["Float32", "blue"], ["Float16", "orange"], ["BFloat16", "yellow"], ["Float64", "pink"], ["Int64", "green"], ["Int32", "teal"], ["Bool", "purple"]];

const RAMP_LIGHT = [[247, 244, 226], [233, 208, 130], [205, 142, 75], [148, 73, 71], [82, 28, 66]];
const RAMP_DARK = [[38, 38, 46], [84, 42, 80], [156, 66, 84], [214, 130, 82], [244, 214, 140]];
export function ramp(t, dark) {
  const stops = dark ? RAMP_DARK : RAMP_LIGHT, at = Math.max(0, Math.min(1, t)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
  return stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i)));
}
export function ink([r, g, b]) { return .299 * r + .587 * g + .114 * b > 140 ? "#1d2730" : "#fff"; }

const UNITS = ["", "k", "M", "G", "T", "P"];
export function human(value, unit = "") {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  let v = value, step = 0;
  while (Math.abs(v) >= 1000 && step < UNITS.length - 1) { v /= 1000; step++; }
  const text = v === 0 ? "0" : Math.abs(v) < .01 ? v.toExponential(1) : Number.isInteger(v) ? String(v) : v.toPrecision(3);
  return `${text}${step || unit ? " " : ""}${UNITS[step]}${unit}`;
}

// how a node stands to the graph beside it: [label, hue, sign]
export const DIFFERENCES = {
  same: ["the same in both", "grey", ""], changed: ["changed attributes or types", "yellow", "~ "],
  fused: ["fused with others", "purple", "⊕ "], removed: ["only here: removed", "orange", "− "], added: ["only here: added", "teal", "+ "],
};

// A scheme gives (item) => {fill, line, ink} and a legend for the panel.
export function schemes(stage) {
  const list = [
    { key: "kind", label: "operator type" }, { key: "dtype", label: "dtype" },
    { key: "flops", label: "FLOPs", unit: "FLOP", of: id => stage.isScope(id) ? stage.scope(id).flops : stage.sigOf(id).flops },
    { key: "bytes", label: "bytes", unit: "B", of: id => stage.isScope(id) ? stage.scope(id).bytes : stage.sigOf(id).bytes },
  ];
  for (const [key, column] of Object.entries(stage.columns)) list.push({ key, label: column.label || key, unit: column.unit || "", of: overlay(stage, column) });
  return list;
}

// an overlay of one value per node; a scope shows the sum, or the largest where sums mean nothing
function overlay(stage, column) {
  const { values } = column, total = column.combine !== "max", sums = new Array(stage.scopes.length).fill(null);
  for (let i = 0; i < stage.n; i++) {
    const v = values[i]; if (v === null || v === undefined) continue;
    for (let s = stage.scopes[stage.scopeOf[i]]; s; s = stage.scopes[s.parent])
      sums[s.i] = sums[s.i] === null ? v : total ? sums[s.i] + v : Math.max(sums[s.i], v);
  }
  return id => stage.isScope(id) ? sums[stage.scope(id).i] : values[id];
}

// diff: {state(id), second}
export function differencePainter(stage, diff, dark) {
  const kindOf = i => { const s = diff.state(i); return s === "only" ? diff.second ? "added" : "removed" : s; };
  const sums = stage.scopes.map(() => new Set());
  for (let i = 0; i < stage.n; i++) { const k = kindOf(i); for (let s = stage.scopes[stage.scopeOf[i]]; s; s = stage.scopes[s.parent]) sums[s.i].add(k); }
  const box = k => { const [fill, line] = hue(DIFFERENCES[k][1], dark); return { fill, line, sign: DIFFERENCES[k][2] }; };
  const mixed = set => { const rest = [...set].filter(k => k !== "same"); return rest.length ? rest.length === 1 ? rest[0] : "changed" : "same"; };
  const used = new Set(); for (let i = 0; i < stage.n; i++) used.add(kindOf(i));
  return { style: id => box(stage.isScope(id) ? mixed(sums[stage.scope(id).i]) : kindOf(id)), kindOf,
    legend: Object.keys(DIFFERENCES).filter(k => used.has(k)).map(k => [DIFFERENCES[k][2] + DIFFERENCES[k][0], ...hue(DIFFERENCES[k][1], dark)]) };
}

export function painter(stage, scheme, dark) {
  if (scheme.of) return scale(stage, scheme, dark);
  const box = name => { const [fill, line] = hue(name, dark); return { fill, line }; };
  const scopeStyle = id => {
    const s = stage.scope(id);
    if (s.kind === CROWD) return scheme.key === "kind" ? box(kind(stage.op(s.children[0]))[1]) : box("grey");
    return s.kind === FOLD ? box("purple") : s.kind === CONTROL ? box("yellow") : dark ? { fill: "#20272f", line: "#5c7187" } : { fill: "#eef2f6", line: "#8fa3b8" };
  };
  const used = new Map();
  if (scheme.key === "dtype") {
    const name = id => { const t = stage.sigOf(id).outs[0] || ""; return t.slice(0, t.indexOf("[")) || "none"; };
    const colour = t => (DTYPES.find(d => d[0] === t) || [t, "grey"])[1];
    for (let i = 0; i < stage.n; i++) { const t = name(i); used.set(t, colour(t)); }
    return { style: id => stage.isScope(id) ? scopeStyle(id) : box(colour(name(id))), legend: [...used].map(([label, c]) => [label, ...hue(c, dark)]) };
  }
  for (const sig of stage.sigs) { const k = kind(sig.op); used.set(k[0], k[1]); }
  return { style: id => stage.isScope(id) ? scopeStyle(id) : box(kind(stage.op(id))[1]),
    legend: KINDS.filter(k => used.has(k[0])).map(k => [k[0], ...hue(k[1], dark)]) };
}

function scale(stage, scheme, dark) {
  let top = 0, low = Infinity;
  for (let i = 0; i < stage.n; i++) { const v = scheme.of(i); if (v > top && Number.isFinite(v)) top = v; if (v > 0 && v < low) low = v; }
  if (top <= low) low = top / 10 || 1;
  low = Math.max(low, top / 1e6); // logarithmic, over six decades at most
  const place = v => v > 0 ? Math.min(1, Math.max(.06, Math.log(v / low) / Math.log(top / low || 2))) : 0;
  return {
    style: id => {
      const v = scheme.of(id);
      if (v === null || v === undefined) { const [fill, line] = hue("grey", dark); return { fill, line, dash: true }; }
      const bad = !Number.isFinite(v), rgb = bad ? [200, 30, 120] : ramp(place(v), dark);
      return { fill: `rgb(${rgb})`, line: dark ? "#6b7682" : "#98a3ae", ink: ink(rgb) };
    },
    ramp: { stops: [0, .25, .5, .75, 1].map(t => `rgb(${ramp(t, dark)})`), low: human(low, scheme.unit), high: human(top, scheme.unit) },
  };
}
