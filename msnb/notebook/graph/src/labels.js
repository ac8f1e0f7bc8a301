// Labels of boxes: a title, and a grey note with operator and output shape.
import { CROWD, FOLD, UNIT } from "./constants.js";

// The attribute of a Cell that is one operator; "" if it is only a number.
const attributeOf = (scope) => (/^\d*$/.test(scope.title) ? "" : scope.title);

export function titleOf(stage, id) {
  if (id < stage.n) return (stage.lone(id) && attributeOf(stage.lone(id))) || stage.op(id);
  if (stage.isArgument(id)) return stage.argument(id).name;
  const s = stage.scope(id);
  return s.kind === UNIT ? `repeat ${+s.name + 1}` : s.title || stage.graph;
}

// The number of repeats, the operator if the title lacks it, and the result.
export function noteOf(stage, id, given) {
  const s = stage.isScope(id) ? stage.scope(id) : null,
    many = s && (s.kind === FOLD || s.kind === CROWD) ? `× ${s.count || s.children.length}` : "",
    op = stage.lone(id) && titleOf(stage, id) !== stage.op(id) ? stage.op(id) : "";
  return [many, op, given].filter(Boolean).join(s ? " · " : " ");
}

// The shape of the main result, with its dtype for a scope.
export function outputLabel(stage, id) {
  const s = stage.isScope(id) ? stage.scope(id) : null,
    node = s ? lastOutput(stage, s) : id;
  if (s?.kind === CROWD || node < 0) return "";
  const { outs, main } = stage.isArgument(id) ? { outs: [stage.argument(id).type], main: 0 } : stage.sigOf(node),
    type = outs[main] || "",
    cut = type.indexOf("["),
    dtype = type.slice(0, Math.max(0, cut)),
    shape = type.slice(cut + 1, -1).replaceAll(", ", "×");
  return cut < 0 || !shape ? dtype : s ? `${dtype} ${shape}` : shape;
}

// The last node of a scope that a node outside reads in the same lane, or that the program returns; else its last node
// (as `Hierarchy.given`).
function lastOutput(stage, scope) {
  if (scope.leaving === undefined) {
    const returned = (id) => stage.chain(id).includes(scope);
    let last = -1;
    for (const [, , node] of scope.out) last = Math.max(last, node);
    for (const id of stage.returned) if (id > last && id < stage.n && returned(id)) last = id;
    scope.leaving = last < 0 ? scope.last : last;
  }
  return scope.leaving;
}
