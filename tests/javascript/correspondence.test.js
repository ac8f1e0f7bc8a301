// The selected node after its graph is replaced by another one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fromBase64 } from "../../msnb/notebook/src/bytes.js";
import { findCounterpart } from "../../msnb/notebook/graph/src/correspondence.js";
import { decode } from "../../msnb/notebook/graph/src/payload.js";

const MADE = JSON.parse(readFileSync(process.env.MSNB_PAYLOADS, "utf8"));
const all = (stage) => Array.from({ length: stage.n }, (_, i) => i);

for (const name of ["lenet", "resnet"])
  test(`a node of '${name}' stays the operator that it is, in whatever stage`, async () => {
    const data = await decode(fromBase64(MADE[name].payload)),
      { made_of: parts } = MADE[name];
    for (const from of data.stages)
      for (const to of data.stages) {
        const own = new Set(all(to).flatMap((i) => parts[to.name][i]));
        let found = 0;
        for (const i of all(from)) {
          const mate = findCounterpart(data, from, i, to);
          if (mate < 0) continue;
          found++;
          assert.ok(
            parts[to.name][mate].some((part) => parts[from.name][i].includes(part)),
            `${from.name} ${from.op(i)} ${parts[from.name][i]} in ${to.name}: ${parts[to.name][mate]}`,
          );
        }
        const there = all(from).filter((i) => parts[from.name][i].some((part) => own.has(part))).length;
        // what helps an operation of StableHLO, as its constants, was no node of its own before
        const least = /traced|differentiated/.test(from.name) ? 0.9 : 0.2;
        assert.ok(found >= least * there, `${from.name} in ${to.name}: ${found} of ${there}`);
      }
  });

test("a scope is the one of its name, and nothing where there is none", async () => {
  const data = await decode(fromBase64(MADE.resnet.payload)),
    [traced, whole] = data.stages,
    name = (stage, id) => `${stage.laneOf(id)} ${stage.path(id)}/${stage.title(id)}`,
    block = traced.scopes.find((s) => traced.path(s.id).endsWith("layer2-SequentialCell") && s.name === "1-Residual");
  assert.equal(name(whole, findCounterpart(data, traced, block.id, whole)), name(traced, block.id));
  const momentum = whole.scopes.find((s) => whole.laneOf(s.id) === "update" && s.kind === 2);
  assert.equal(findCounterpart(data, whole, momentum.id, traced), -1);
});

test("in a newer version of the graph it is the call of the same name, not of the same number", async () => {
  const {
      stages: [old],
    } = await decode(fromBase64(MADE.lenet.payload)),
    data = await decode(fromBase64(MADE.resnet.payload)),
    [stage] = data.stages;
  for (const i of all(old)) {
    const id = findCounterpart(data, old, i, stage);
    if (id >= 0) assert.equal(`${stage.path(id)} ${stage.op(id)}`, `${old.path(i)} ${old.op(i)}`);
  }
  const loss = all(old).find((i) => old.op(i) === "SparseSoftmaxCrossEntropyWithLogits");
  assert.equal(stage.op(findCounterpart(data, old, loss, stage)), old.op(loss));
});

test("in the whole of a folded copy it is the very node", async () => {
  const [copy] = (await decode(fromBase64(MADE.folded.payload))).stages,
    data = await decode(fromBase64(MADE.deep.payload));
  for (const i of all(copy)) assert.equal(findCounterpart(data, copy, i, data.stages[0]), copy.number(i));
});

for (const name of ["lenet", "resnet"])
  test(`every box of '${name}' has a counterpart that can be drawn, or none, in each stage`, async () => {
    const data = await decode(fromBase64(MADE[name].payload));
    for (const from of data.stages)
      for (const to of data.stages)
        for (let id = 0; id < from.ends; id++) {
          const mate = findCounterpart(data, from, id, to);
          assert.ok(mate === -1 || (mate < to.ends && to.chain(mate)), `${from.name} ${id} in ${to.name}: ${mate}`);
        }
  });
