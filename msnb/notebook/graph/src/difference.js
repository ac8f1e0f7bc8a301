// Two stages side by side: matching nodes, and the counterparts of a node in the other stage.
import { escape } from "../../src/escape.js";
import { LANE } from "./constants.js";

// Map(stage -> its side of the difference); null if Python has not compared the two.
export function between(data, first, second) {
  const a = data.stages.indexOf(first),
    b = data.stages.indexOf(second),
    found = data.diffs.find((d) => (d.a === a && d.b === b) || (d.a === b && d.b === a));
  if (!found) return null;
  const turned = found.a === b,
    side = (i) => found.sides[turned ? 1 - i : i];
  return new Map([
    [first, { ...side(0), second: turned }],
    [second, { ...side(1), second: !turned }],
  ]);
}

// The outermost box that contains only differing nodes, around the first such node; -1 if all nodes are equal.
export function firstDifferent(stage, side) {
  const differs = (id) => side.state(id) !== "same" && side.state(id) !== "fused";
  let first = 0;
  while (side && first < stage.n && !differs(first)) first++;
  if (!side || first === stage.n) return -1;
  return stage.chain(first).find((s) => s.kind !== LANE && [...stage.below(s)].every(differs))?.id ?? first;
}

// The panel's text about a node of `stage`; `side` is the stage's side of the difference.
export function differencePanel(stage, id, side, other) {
  const ids = side.links.get(id) || [],
    state = side.state(id);
  if (!ids.length) return `<h4>${escape(other.name)}</h4><p>not there: ${side.second ? "added" : "removed"}</p>`;
  const list = ids
      .slice(0, 8)
      .map((i) => `<p><button class="link" data-mate="${i}">%${other.number(i)} ${escape(other.op(i))}</button></p>`)
      .join(""),
    more = ids.length > 8 ? `<p class="kind">and ${ids.length - 8} more</p>` : "",
    changes = state === "changed" ? changed(stage.sigOf(id), other.sigOf(ids[0])) : [];
  const table = changes.map(
    ([k, a, b]) =>
      `<tr><td>${escape(k)}</td><td>${escape(a)}<br><span class="kind">there: ${escape(b)}</span></td></tr>`,
  );
  return (
    `<h4>${escape(other.name)}: ${state === "same" ? "matched" : state}</h4>${list}${more}` +
    (table.length ? `<table>${table.join("")}</table>` : "")
  );
}

// [name, value here, value there] of the differences of two signatures
function changed(own, mate) {
  const was = new Map(mate.attrs),
    found = [];
  for (const [k, v] of own.attrs) if (was.get(k) !== v) found.push([k, v, was.has(k) ? was.get(k) : "–"]);
  if (own.outs.join() !== mate.outs.join()) found.push(["output", own.outs.join(", "), mate.outs.join(", ")]);
  if (own.ins.join() !== mate.ins.join()) found.push(["inputs", own.ins.join(", "), mate.ins.join(", ")]);
  return found;
}
