// Find the counterpart of a selected box in the graph that replaces its graph: another stage of the program, the full
// graph for a copy without repeats, or a newer version of the cell.
import { between } from "./difference.js";

/** The id of the counterpart in `stage`, -1 if there is none. `data` is the payload with `stage`. */
export function findCounterpart(data, old, id, stage) {
  if (id < 0 || old === stage) return id;
  if (id >= old.n) return matchByName(namedBoxes(old), namedBoxes(stage), id);
  if (old.ids && !stage.ids && old.total === stage.n) return old.ids[id];
  if (old.name === stage.name) return matchByName(namedCalls(old), namedCalls(stage), id);
  const was = data.stages.find((s) => s.name === old.name),
    diff = was && between(data, was, stage),
    mates = diff?.get(was).links.get(old.number(id)) || [];
  // An operator consists of several primitives: take the most expensive one.
  return mates.reduce((a, b) => (a < 0 || stage.sigOf(b).flops > stage.sigOf(a).flops ? b : a), -1);
}

const matchByName = (from, to, id) => to.find(([, name]) => name === from.find(([i]) => i === id)[1])?.[0] ?? -1;

// [id, name without its numbers] of scopes and arguments, and of nodes
function namedBoxes(stage) {
  return [
    ...stage.scopes.map((s) => [s.id, `${stage.laneOf(s.id)} ${s.kind} ${stage.path(s.id)}/${s.name}`]),
    ...stage.args.map((a, k) => [stage.firstArgument + k, `${a.result} ${a.name}`]),
  ];
}
function namedCalls(stage) {
  const count = new Map();
  return Array.from({ length: stage.n }, (_, i) => {
    const name = `${stage.laneOf(i)} ${stage.path(i)} ${stage.op(i)}`,
      times = (count.get(name) || 0) + 1;
    count.set(name, times);
    return [i, `${name} ${times}`];
  });
}
