// Places of boxes, whatever is open: nothing overlaps, edges lead from box to box, twins stand level.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fromBase64 } from "../../msnb/notebook/src/bytes.js";
import { flatten, Layout } from "../../msnb/notebook/graph/src/layout.js";
import { decode } from "../../msnb/notebook/graph/src/payload.js";

const MADE = JSON.parse(readFileSync(process.env.MSNB_PAYLOADS, "utf8"));
async function layoutOf(name) {
  return new Layout((await decode(fromBase64(MADE[name].payload))).stages[0]);
}
function flat(layout) {
  layout.now();
  return flatten(layout);
}
const inside = (a, b) =>
  a.x >= b.x - 0.01 && a.y >= b.y - 0.01 && a.x + a.w <= b.x + b.w + 0.01 && a.y + a.h <= b.y + b.h + 0.01;
const apart = (a, b) => a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h;

function check({ boxes, edges, at, w, h }) {
  boxes.forEach((a, i) => {
    for (const b of boxes.slice(i + 1)) assert.ok(apart(a, b) || inside(b, a), `boxes ${a.id} and ${b.id} overlap`);
    assert.ok(inside(a, { x: 0, y: 0, w, h }), `box ${a.id} is on the paper`);
  });
  for (const edge of edges)
    for (const [id, [x, y]] of [
      [edge.a, edge.points[0]],
      [edge.b, edge.points.at(-1)],
    ]) {
      const box = boxes[at.get(id)];
      assert.ok(Math.abs(x - box.x - box.w / 2) < 0.01, `the edge ${edge.a}-${edge.b} ends in the middle of ${id}`);
      assert.ok(Math.min(Math.abs(y - box.y), Math.abs(y - box.y - box.h)) < 0.01, `... at its upper or lower side`);
    }
}

for (const name of ["forward", "step", "deep", "folded"])
  for (const state of ["as it opens", "closed", "open"])
    test(`boxes of '${name}', ${state}, do not overlap and edges end at boxes`, async () => {
      const layout = await layoutOf(name);
      if (state !== "as it opens") layout.setAll(state === "open");
      check(flat(layout));
    });

test("what is opened and closed again stands where it stood", async () => {
  const layout = await layoutOf("step"),
    before = flat(layout).boxes,
    scopes = before.filter((box) => layout.stage.isScope(box.id)).map((box) => layout.stage.scope(box.id));
  assert.ok(scopes.length > 2);
  for (const scope of scopes) {
    layout.toggle(scope);
    check(flat(layout));
    layout.toggle(scope);
  }
  assert.deepEqual(flat(layout).boxes, before);
});

test("rows that belong together are level in both lanes", async () => {
  const layout = await layoutOf("step"),
    { boxes, at } = flat(layout);
  let level = 0,
    seen = 0;
  for (const box of boxes) {
    const other = boxes[at.get(layout.stage.twin[box.id])];
    if (!other) continue;
    seen++;
    if (Math.abs(box.y + box.h / 2 - other.y - other.h / 2) < 0.01) level++;
  }
  assert.ok(seen > 4 && level > seen / 2, `${level} of ${seen} twins`);
});

test("both lanes open together", async () => {
  const layout = await layoutOf("step"),
    stage = layout.stage;
  layout.setAll(false);
  const scope = stage.scopes.find((s) => stage.twin[s.id] >= 0 && layout.isOpen(s.id) === false);
  layout.set(scope, true);
  assert.ok(layout.isOpen(scope.id) && layout.isOpen(stage.twin[scope.id]));
});

test("a node that is looked for comes into sight, whatever hides it", async () => {
  const layout = await layoutOf("deep");
  for (const id of [0, 57, layout.stage.n - 1]) {
    layout.setAll(false);
    layout.reveal(id);
    assert.equal(layout.standIn(id), id);
    assert.ok(flat(layout).at.has(id));
  }
});

test("a closed graph shows a closed scope for each node in it", async () => {
  const layout = await layoutOf("deep");
  layout.setAll(false);
  const { at } = flat(layout);
  for (let id = 0; id < layout.stage.n; id++) assert.ok(at.has(layout.standIn(id)));
});

test("slices give the processor back and end in the same places", async () => {
  const layout = await layoutOf("deep"),
    other = await layoutOf("deep");
  for (const one of [layout, other]) one.setAll(true);
  let pauses = 0;
  await layout.slices(async () => pauses++, -1);
  assert.ok(pauses > 3);
  other.now();
  assert.deepEqual(flatten(layout).boxes, flatten(other).boxes);
});
