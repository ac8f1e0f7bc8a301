// Pair boxes of the forward and backward lanes that belong on one row: scopes and Cells of one operator by their names,
// calls of an operator outside of such Cells by their order.
import { LANE, append } from "./constants.js";

export function pairLanes(stage) {
  const lane = (name) => stage.scopes.find((s) => s.kind === LANE && s.name === name);
  stage.forward = lane("forward");
  stage.backward = lane("backward");
  stage.update = lane("update");
  stage.twin = new Int32Array(stage.n + stage.scopes.length).fill(-1);
  stage.level = stage.twin.slice(); // a Cell of one operator, and the scope of its gradients where these are several
  // XLA orders its kernels itself, so there are no rows to match.
  if (stage.forward && stage.backward && !stage.compiled) pairScopes(stage, stage.forward, stage.backward);
}

function pairScopes(stage, f, b) {
  const names = new Map(),
    calls = new Map(),
    cell = (id) => (stage.isScope(id) ? stage.scope(id) : stage.lone(id)),
    pair = (rows, one, other) => {
      rows[one] = other;
      rows[other] = one;
    };
  pair(stage.twin, f.id, b.id);
  for (const id of b.children) {
    if (cell(id)) names.set(cell(id).name, id);
    else append(calls, stage.op(id).replace(/^grad/, ""), id);
  }
  for (const id of f.children) {
    const own = cell(id),
      mate = own ? names.get(own.name) : calls.get(stage.op(id))?.pop(); // gradients come in the opposite order
    if (mate === undefined) continue;
    if (stage.isScope(id) !== stage.isScope(mate)) pair(stage.level, id, mate);
    else if (!stage.isScope(id)) pair(stage.twin, id, mate);
    else if (stage.scope(mate).kind === own.kind) pairScopes(stage, own, stage.scope(mate));
  }
}
