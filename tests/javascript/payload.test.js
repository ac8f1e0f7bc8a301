// What Python packs is what the browser unpacks: the graphs and the facts come from test_javascript.py.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { bytesOf, fromBase64 } from "../../msnb/notebook/src/bytes.js";
import { kindName } from "../../msnb/notebook/graph/src/colour.js";
import { decode, sizeOf } from "../../msnb/notebook/graph/src/payload.js";

const MADE = JSON.parse(readFileSync(process.env.MSNB_PAYLOADS, "utf8"));
const all = (stage) => Array.from({ length: stage.n }, (_, i) => i);
const read = async (name) => (await decode(fromBase64(MADE[name].payload))).stages[0];

for (const name of ["forward", "step", "deep"])
  test(`every node of '${name}' has the operator, types, inputs and lane that Python gave it`, async () => {
    const facts = MADE[name],
      stage = await read(name);
    assert.deepEqual(
      all(stage).map((i) => stage.op(i)),
      facts.names,
    );
    assert.deepEqual(
      all(stage).map((i) => stage.sigOf(i).outs),
      facts.types,
    );
    assert.deepEqual(
      all(stage).map((i) => stage.laneOf(i)),
      facts.lanes,
    );
    const known = facts.inputs.map((inputs) => inputs.filter((ref) => ref !== null));
    assert.deepEqual(
      all(stage).map((i) => [...stage.inputs(i)]),
      known,
    );
    assert.deepEqual(
      stage.params.filter((p) => p.weight).map((p) => p.name),
      facts.weights,
    );
  });

test("readers are inputs the other way round", async () => {
  const stage = await read("step");
  for (const i of all(stage))
    for (const ref of stage.inputs(i)) if (ref >= 0) assert.ok(stage.readers(ref).includes(i));
  const many = (of) => all(stage).reduce((sum, i) => sum + [...of(i)].filter((ref) => ref >= 0).length, 0);
  assert.equal(
    many((i) => stage.readers(i)),
    many((i) => stage.inputs(i)) + stage.extra.length,
  );
});

test("a scope holds the sums of what is inside it, and every node is inside one", async () => {
  const stage = await read("step"),
    lanes = [stage.forward, stage.backward, stage.update];
  assert.equal(
    lanes.reduce((sum, lane) => sum + lane.flops, 0),
    MADE.step.flops,
  );
  assert.deepEqual(
    lanes.flatMap((lane) => [...stage.below(lane)]).sort((a, b) => a - b),
    all(stage),
  );
});

test("an edge stands between two children of the scope that holds both its ends", async () => {
  const stage = await read("deep");
  for (const scope of stage.scopes)
    for (const { a, b } of scope.edges.values()) for (const id of [a, b]) assert.equal(stage.home(id), scope);
});

test("twins are each other's twin, one forward and one backward", async () => {
  const stage = await read("step");
  let many = 0;
  stage.twin.forEach((other, id) => {
    if (other < 0) return;
    many++;
    assert.equal(stage.twin[other], id);
    if (stage.home(id)?.lane >= 0) assert.notEqual(stage.laneOf(id), stage.laneOf(other));
  });
  assert.equal(many, 2 * (7 + 2 + 1)); // nodes, those of Cells of one operator among them; scopes; the lane itself
});

test("a folded copy stands for every node, and its numbers are those of the whole", async () => {
  const folded = await read("folded"),
    whole = await read("deep");
  assert.ok(folded.n < whole.n / 4);
  assert.equal(folded.total, whole.n);
  assert.equal(folded.forward.flops, whole.forward.flops);
  for (const i of all(folded)) assert.equal(folded.op(i), whole.op(folded.number(i)));
});

test("alive is what has been made and is still read, or returned", async () => {
  const stage = await read("forward"),
    bytes = MADE.forward.bytes,
    end = bytes.map((_, i) => Math.max(i, ...stage.readers(i)));
  for (const [ref] of stage.outputs) if (ref >= 0) end[ref] = stage.n - 1;
  const expected = bytes.map((_, now) => bytes.reduce((sum, b, i) => sum + (i <= now && now <= end[i] ? b : 0), 0));
  assert.deepEqual([...stage.alive], expected);
});

test("the steps of all optimizers are of one colour, and no pooling or normalisation is", () => {
  for (const op of [
    "SGD",
    "ApplyMomentum",
    "LARSUpdate",
    "Adam",
    "FusedSparseLazyAdam",
    "ApplyAdagrad",
    "SparseApplyFtrl",
  ])
    assert.equal(kindName(op), "optimizer, assignment", op);
  for (const op of ["AdaptiveAvgPool2D", "RmsNorm", "lambda"])
    assert.notEqual(kindName(op), "optimizer, assignment", op);
});

test("a type says how many values and bytes it has", () => {
  assert.deepEqual(sizeOf("Float32[2, 3]"), { values: 6, bytes: 24 });
  assert.deepEqual(sizeOf("BFloat16[4]"), { values: 4, bytes: 8 });
  assert.deepEqual(sizeOf("Float64[]"), { values: 1, bytes: 8 });
  assert.deepEqual(sizeOf("token"), { values: 0, bytes: 0 });
});

test("bytes of a trait are those of its view, not of the buffer around it", () => {
  const buffer = Uint8Array.from([9, 1, 2, 3, 9]).buffer;
  assert.deepEqual([...bytesOf(new DataView(buffer, 1, 3))], [1, 2, 3]);
  assert.deepEqual([...fromBase64("AQID")], [1, 2, 3]);
  assert.deepEqual([...bytesOf(null)], []);
});
