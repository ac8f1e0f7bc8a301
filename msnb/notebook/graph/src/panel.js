// The text panel: one node, one scope, or the graph if nothing is selected.
import { escape } from "../../src/escape.js";
import { formatLocation } from "../../src/location.js";
import { CHECKS, human, written } from "./colour.js";
import { FOLD, CROWD, UNIT, CONTROL, LANE, PAGE } from "./constants.js";
import { sizeOf } from "./payload.js";

const link = (id, text) => `<button class="link" data-go="${id}">${escape(text)}</button>`;
const copyLink = (id) => ` · <button class="link" data-link="${id}" title="copy a link to this">copy link</button>`;
const row = (name, value) => (value === "" || value === undefined ? "" : `<tr><td>${name}</td><td>${value}</td></tr>`);
const typeOf = (kind) => escape(kind.startsWith("=") ? kind.slice(1) : kind.replace(/@(\d+)$/, "  (result $1)"));

// values of overlays
function ownValues(schemes, id) {
  return schemes
    .filter((s) => s.own || s.shown)
    .map((s) => {
      const note = s.note(id);
      return row(
        escape(s.label),
        escape(written(s, id)) + (note ? `<br><span class="kind">${escape(note)}</span>` : ""),
      );
    })
    .join("");
}

function crumbs(stage, id) {
  const around = stage.chain(id).filter((s) => s.kind !== LANE && s.kind !== UNIT),
    own = stage.lone(id), // a Cell that is drawn as its one operator
    parts = [...around.map((s) => link(s.id, stage.title(s.id))), ...(own ? [escape(own.name)] : [])];
  return parts.length ? `<p class="kind">${parts.join(" / ")}</p>` : "";
}

function inputRows(stage, id) {
  const refs = stage.inputs(id);
  let at = 0;
  return stage
    .sigOf(id)
    .ins.map((kind) => {
      if (kind.startsWith("=")) return row("constant", typeOf(kind));
      const ref = refs[at++];
      if (ref >= 0) return row(link(ref, `%${stage.number(ref)} ${stage.op(ref)}`), typeOf(kind));
      const p = stage.params[-1 - ref];
      return row(`<span title="${p.weight ? "Parameter" : "input"}">${escape(p.name)}</span>`, typeOf(kind));
    })
    .join("");
}

const attribute = (key, text) => (key === "bytes_sent" ? human(Number(text), "B") : escape(text));

const held = ({ name }) =>
  `<button class="link" data-weight="${escape(name)}" aria-expanded="false" title="what it holds">` +
  `${escape(name)}</button>`;
const ungraded = `<br><span class='kind'>no gradient</span>`;

// Counts of FLOPs and bytes; a graph read from a file has none.
const work = ({ flops, bytes }) => (bytes ? row("FLOPs", human(flops)) + row("memory traffic", human(bytes, "B")) : "");

const costs = (sig, values) =>
  `<h4>Cost</h4><table>${work(sig)}${row(
    "results",
    human(
      sig.outs.reduce((a, t) => a + sizeOf(t).bytes, 0),
      "B",
    ),
  )}${row("intensity", sig.bytes ? `${(sig.flops / sig.bytes).toPrecision(3)} FLOP/byte` : "")}${values}</table>`;

const CHECK_NOTE =
  "msnb adds this check of the values of an input. The network does not read its result. A wrong value raises an " +
  "error, and the step changes no Parameter.";

// live: there is a kernel with the values of the Parameters
export function nodePanel(stage, id, schemes, live = false) {
  const sig = stage.sigOf(id),
    source = stage.sourceOf(id),
    lane = stage.laneOf(id),
    twin = stage.twin[id];
  const readers = [...new Set(stage.readers(id))],
    more = readers.length > 12 ? `<p class="kind">and ${readers.length - 12} more</p>` : "";
  const values = ownValues(schemes, id);
  const weights = [...stage.inputs(id)]
    .filter((r) => r < 0 && stage.params[-1 - r].weight)
    .map((r) => stage.params[-1 - r]);
  return (
    `<h3>${escape(sig.op)}</h3><p class="kind">CNode %${stage.number(id)}, ${lane}${copyLink(id)}</p>` +
    crumbs(stage, id) +
    (CHECKS.test(sig.op) ? `<p>${CHECK_NOTE}</p>` : "") +
    (stage.problem?.id === id ? `<p class="bad">${escape(stage.problem.said)}</p>` : "") +
    (source
      ? `<h4>Source</h4><button class="link" data-reveal="${id}" title="show this line">` +
        `${escape(formatLocation(source))}</button>${
          source[2] && source[2] !== "<module>" ? ` <span class="kind">in ${escape(source[2])}</span>` : ""
        }${source[3] ? `<pre>${escape(source[3])}</pre>` : ""}`
      : "") +
    (sig.attrs.length
      ? `<h4>Attributes</h4><table>${sig.attrs.map(([k, v]) => row(escape(k), attribute(k, v))).join("")}</table>`
      : "") +
    (sig.ins.length ? `<h4>Inputs</h4><table>${inputRows(stage, id)}</table>` : "") +
    (sig.outs.length
      ? `<h4>${sig.outs.length > 1 ? "Outputs" : "Output"}</h4><table>` +
        `${sig.outs.map((t, i) => row(sig.outs.length > 1 ? `[${i}]` : "result", typeOf(t))).join("")}</table>`
      : "") +
    (weights.length
      ? `<h4>Parameters</h4><table>` +
        weights
          .map((p) => row(live ? held(p) : escape(p.name), escape(p.type) + p.whole + (p.grad ? "" : ungraded)))
          .join("") +
        `</table>`
      : "") +
    (stage.problem?.id === id ? "" : costs(sig, values)) +
    (readers.length
      ? `<h4>Read by</h4><table>${readers
          .slice(0, 12)
          .map((r) =>
            row(link(r, `%${stage.number(r)} ${stage.op(r)}`), `<span class="kind">${escape(stage.where(r))}</span>`),
          )
          .join("")}</table>${more}`
      : "") +
    (twin >= 0
      ? `<h4>${lane === "backward" ? "Gradient of" : "Gradient"}</h4>${link(
          twin,
          `%${stage.number(twin)} ${stage.op(twin)}`,
        )}`
      : "")
  );
}

export function argumentPanel(stage, id) {
  const p = stage.argument(id),
    near = p.result ? p.inputs : [...new Set(p.readers)];
  return (
    `<h3>${escape(p.name)}</h3><p class="kind">` +
    `${p.result ? "what the program returns" : "ParameterNode, an input of the program"}</p><table>` +
    `${row("type", typeOf(p.type) + (p.whole ?? ""))}</table>` +
    `<h4>${p.result ? "Made by" : "Read by"}</h4><table>${near
      .slice(0, 20)
      .map((r) =>
        row(link(r, `%${stage.number(r)} ${stage.op(r)}`), `<span class="kind">${escape(stage.where(r))}</span>`),
      )
      .join("")}</table>`
  );
}

const KIND_NAMES = {
  [FOLD]: "repeated block",
  [CROWD]: "independent calls",
  [CONTROL]: "control flow",
  [UNIT]: "one repeat",
  [PAGE]: "part of a large scope",
};

function census(stage, ids) {
  const counts = new Map();
  let flops = 0,
    bytes = 0;
  const params = new Set();
  for (const id of ids) {
    const sig = stage.sigOf(id),
      bare = sig.op.replace(/^grad/, ""),
      known = counts.get(bare) || counts.set(bare, { n: 0, flops: 0 }).get(bare);
    const times = stage.timesOf(id);
    known.n += times;
    known.flops += sig.flops * times;
    flops += sig.flops * times;
    bytes += sig.bytes * times;
    for (const ref of stage.inputs(id)) if (ref < 0 && stage.params[-1 - ref].weight) params.add(-1 - ref);
  }
  return { counts: [...counts].sort((a, b) => b[1].flops - a[1].flops || b[1].n - a[1].n), flops, bytes, params };
}

function weightSize(stage, params) {
  let elements = 0,
    bytes = 0;
  for (const p of params) {
    const size = sizeOf(stage.params[p].type);
    elements += size.values;
    bytes += size.bytes;
  }
  return params.size
    ? `${params.size} <span class="kind">(${human(elements)} values, ${human(bytes, "B")})</span>`
    : "";
}

const meter = (flops, top) =>
  `<div class="meter" style="width:${((100 * flops) / top).toFixed(1)}%" title="${human(flops, "FLOP")}"></div>`;

function opTable(found, limit) {
  const top = Math.max(1, ...found.counts.map((c) => c[1].flops));
  return (
    `<h4>Operators</h4><table>${found.counts
      .slice(0, limit)
      .map(
        ([op, c]) =>
          `<tr><td><button class="link" data-find="op:${escape(op)}" title="find them">${escape(op)}</button></td>` +
          `<td class="num">${c.n}</td><td class="wide">${c.flops ? meter(c.flops, top) : ""}</td></tr>`,
      )
      .join("")}</table>` +
    (found.counts.length > limit ? `<p class="kind">and ${found.counts.length - limit} more</p>` : "")
  );
}

export function scopePanel(stage, id, schemes) {
  const s = stage.scope(id),
    found = census(stage, stage.below(s)),
    twin = stage.twin[id];
  const values = ownValues(schemes, id);
  const kind = KIND_NAMES[s.kind] || (s.kind === LANE ? "lane" : "scope");
  return (
    `<h3>${escape(stage.title(id))}</h3><p class="kind">${kind}, ${stage.laneOf(id)}${copyLink(id)}</p>` +
    `${crumbs(stage, id)}<h4>Inside</h4><table>` +
    row("nodes", s.size) +
    row(
      s.kind === FOLD || s.kind === CROWD ? "repeats" : "",
      s.kind === FOLD || s.kind === CROWD ? s.count || s.children.length : "",
    ) +
    work(found) +
    row("Parameters", weightSize(stage, found.params)) +
    values +
    `</table>${opTable(found, 10)}` +
    (twin >= 0
      ? `<h4>${stage.laneOf(id) === "backward" ? "Gradient of" : "Gradient"}</h4>${link(twin, stage.title(twin))}`
      : "")
  );
}

export function ramp({ ramp: { stops, low, high, log } }) {
  return (
    `<div class="ramp" style="background:linear-gradient(90deg,${stops})"></div><div class="ends"><span>` +
    `${low}</span><span>${log ? "log" : ""}</span><span>${high}</span></div>`
  );
}

// The meaning of each colour, and its number of nodes.
export const keys = (legend) =>
  legend
    .map(
      ([label, fill, line, count]) =>
        `<p><span class="key" style="background:${fill};border-color:${line}"></span>${escape(label)}${
          count === undefined ? "" : ` <span class="kind">${count}</span>`
        }</p>`,
    )
    .join("");

export function graphPanel(stage, paint, scheme) {
  const all = census(
      stage,
      Array.from({ length: stage.n }, (_, i) => i),
    ),
    lanes = [stage.forward, stage.backward, stage.update].filter(Boolean);
  const args = stage.params.filter((p) => !p.weight),
    weights = new Set(stage.params.map((p, i) => (p.weight ? i : -1)).filter((i) => i >= 0));
  const lines = scheme.lines ? `<p class="kind">of each device; lines lead to and from what sends</p>` : "";
  const legend = paint.legend ? keys(paint.legend) : ramp(paint) + lines;
  return (
    `<h3>${escape(stage.graph)}</h3><p class="kind">FuncGraph, ` +
    `${stage.name}` +
    `${stage.ids ? "; repeated blocks are left out of this saved copy, run the cell to see them" : ""}</p><h4>` +
    `Graph</h4><table>${row("nodes", stage.total)}` +
    (lanes.length > 1 ? lanes.map((s) => row(s.name, s.size)).join("") : "") +
    work(all) +
    row("Parameters", weightSize(stage, weights)) +
    "</table>" +
    (args.length
      ? `<h4>Inputs</h4><table>${args
          .slice(0, 12)
          .map((p) => row(escape(p.name), escape(p.type) + p.whole))
          .join("")}</table>`
      : "") +
    `<h4>Colour: ${escape(scheme.label)}</h4>${legend}${opTable(all, 12)}`
  );
}
