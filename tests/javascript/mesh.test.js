// Which device holds which part: each part is held by as many devices as any other, and together they are the whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import { partOf, partsOf, placeOf, wordsOf } from "../../msnb/notebook/plan/src/mesh.js";

const mesh = new Map([
  ["hosts", 2],
  ["inside", 4],
]);

test("the parts of a tensor cover it, each as often as the others", () => {
  for (const layout of [
    [[], []],
    [["inside"], []],
    [["inside"], ["hosts"]],
    [["hosts", "inside"], []],
    [[], ["inside", "hosts"]],
  ]) {
    const tensor = { shape: [16, 8], layout },
      held = new Map();
    for (let k = 0; k < 8; k++) {
      const { number, ranges } = partOf(tensor, mesh, placeOf(mesh, k));
      held.set(number, [...(held.get(number) ?? []), JSON.stringify(ranges)]);
    }
    assert.equal(held.size, partsOf(tensor, mesh));
    const seen = new Set();
    for (const copies of held.values()) {
      assert.equal(copies.length, 8 / held.size);
      assert.equal(new Set(copies).size, 1);
      const [[a, b], [c, d]] = JSON.parse(copies[0]);
      for (let i = a; i < b; i++) for (let j = c; j < d; j++) seen.add(`${i} ${j}`);
    }
    assert.equal(seen.size, 16 * 8);
  }
});

test("the first axis of a pair is the slower one, as in a PartitionSpec", () => {
  const tensor = { shape: [16], layout: [["inside", "hosts"]] };
  assert.deepEqual(placeOf(mesh, 6), { hosts: 1, inside: 2 });
  assert.deepEqual(partOf(tensor, mesh, placeOf(mesh, 6)), { number: 5, ranges: [[10, 12]] });
  assert.equal(wordsOf(tensor, mesh), "16/8");
  assert.equal(wordsOf({ shape: [], layout: [] }, mesh), "scalar");
});
