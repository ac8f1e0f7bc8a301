// Ports: the points at which edges cross the rim of an open scope. An edge between siblings A and B is one line while
// both are closed. If B is open, the line continues from a port of A to the children of B that read it; if A is open,
// from the children that compute it to a port. A line is named by its two boxes: A and B between siblings, A and child
// inside B, child and B inside A, and so on inwards.
import { CROWD, FOLD, LANE, ROOT } from "./constants.js";

const MOST = 8; // ports on one side; where there were more, one stands for all of them

export const HIDDEN = -1; // stands for all repeats that are not shown
export const nameOf = (stage, from, to) => from * stage.most + to;
export const named = (stage, name) => [Math.floor(name / stage.most), name % stage.most];

// Return {into: [port], out: [port]} of a scope that shows `items`. A port has `keys`, the outside boxes that it
// represents, and `lines`: Map(child -> Set of names).
export function portsOf(stage, scope, items) {
  const into = new Map(),
    made = new Map();
  if (scope.kind === ROOT || scope.kind === LANE || scope.kind === CROWD) return { into: [], out: [] };
  const shown = new Set(items);
  for (const [from, child, node] of scope.into)
    if (shown.has(child)) note(into, from, child, nameOf(stage, from, child), node);
  for (const [to, child, node] of scope.out)
    if (shown.has(child)) note(made, to, child, nameOf(stage, child, to), node);
  if (scope.kind === FOLD)
    for (const { a, b } of scope.edges.values()) {
      if (shown.has(a) && !shown.has(b)) note(made, HIDDEN, a, nameOf(stage, a, b), HIDDEN);
      if (shown.has(b) && !shown.has(a)) note(into, HIDDEN, b, nameOf(stage, a, b), HIDDEN);
    }
  return { into: few(sorted(into.values())), out: few(alike(sorted(made.values()))) };
}

// Sorted like the boxes outside, so that lines do not cross there.
const sorted = (ports) => [...ports].sort((a, b) => a.keys[0] - b.keys[0]);

function note(ports, key, child, name, node) {
  let port = ports.get(key);
  if (!port) ports.set(key, (port = { keys: [key], lines: new Map(), nodes: new Set() }));
  const names = port.lines.get(child);
  if (names) names.add(name);
  else port.lines.set(child, new Set([name]));
  port.nodes.add(node);
}

// Join ports that lead to several boxes from the same nodes.
function alike(makers) {
  const found = new Map();
  for (const port of makers) {
    const made = [...port.nodes].sort((a, b) => a - b).join(),
      known = found.get(made);
    if (known) join(known, port);
    else found.set(made, port);
  }
  return [...found.values()];
}
function few(ports) {
  if (ports.length > MOST) for (const port of ports.splice(1)) join(ports[0], port);
  return ports;
}
function join(port, other) {
  port.keys.push(...other.keys);
  for (const [child, names] of other.lines) {
    const known = port.lines.get(child);
    if (!known) port.lines.set(child, names);
    else for (const name of names) known.add(name);
  }
}
