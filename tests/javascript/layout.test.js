// Places of boxes, whatever is open: nothing overlaps, edges lead from box to box, twins stand level.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fromBase64 } from "../../msnb/notebook/src/bytes.js";
import { Layout, READABLE } from "../../msnb/notebook/graph/src/layout.js";
import { flatten, linesOf } from "../../msnb/notebook/graph/src/scene.js";
import { parts } from "../../msnb/notebook/graph/src/traces.js";
import { FOLD, LONE } from "../../msnb/notebook/graph/src/constants.js";
import { decode } from "../../msnb/notebook/graph/src/payload.js";

const MADE = JSON.parse(readFileSync(process.env.MSNB_PAYLOADS, "utf8"));
async function layoutOf(name) {
  const layout = new Layout((await decode(fromBase64(MADE[name].payload))).stages[0]);
  layout.openInto(1200, 2000);
  return layout;
}
function flat(layout) {
  layout.now();
  return flatten(layout);
}
const inside = (a, b) =>
  a.x >= b.x - 0.01 && a.y >= b.y - 0.01 && a.x + a.w <= b.x + b.w + 0.01 && a.y + a.h <= b.y + b.h + 0.01;
const apart = (a, b) => a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h;

function checkBoxes({ boxes, w, h }) {
  boxes.forEach((a, i) => {
    for (const b of boxes.slice(i + 1)) assert.ok(apart(a, b) || inside(b, a), `boxes ${a.id} and ${b.id} overlap`);
    assert.ok(inside(a, { x: 0, y: 0, w, h }), `box ${a.id} is on the paper`);
  });
}

// the lines of an edge, from the box that makes it to the one that reads it, follow one another through every rim
function checkWay(layout, scene, a, b) {
  const { boxes, edges, at } = scene,
    lines = linesOf(layout.stage, scene),
    names = parts(layout.stage, a, b),
    box = (id) => boxes[at.get(id)],
    meets = (p, q) => assert.ok(Math.hypot(p[0] - q[0], p[1] - q[1]) < 0.01, `the edge ${a}-${b} is broken at ${p}`);
  if (!names || !at.has(a) || !at.has(b)) return 0;
  const ways = names.map((name) => {
    assert.ok(lines.has(name), `the edge ${a}-${b} has a line ${name}`);
    return edges[lines.get(name)].points;
  });
  ways.forEach((points, i) => {
    if (i) meets(ways[i - 1].at(-1), points[0]);
  });
  for (const [id, [x, y]] of [
    [a, ways[0][0]],
    [b, ways.at(-1).at(-1)],
  ]) {
    const { x: left, y: top, w, h } = box(id);
    assert.ok(Math.abs(x - left - w / 2) < 0.01, `the edge ${a}-${b} ends in the middle of ${id}`);
    assert.ok(Math.min(Math.abs(y - top), Math.abs(y - top - h)) < 0.01, `... at its upper or lower side`);
  }
  return ways.length;
}
function check(layout) {
  const scene = flat(layout),
    lengths = [];
  checkBoxes(scene);
  layout.stage.eachEdge((a, b) => lengths.push(checkWay(layout, scene, a, b)));
  return Math.max(...lengths);
}

for (const name of ["forward", "step", "deep", "folded", "loop"])
  for (const state of ["as it opens", "closed", "open"])
    test(`boxes of '${name}', ${state}, do not overlap, and edges lead from box to box through every rim`, async () => {
      const layout = await layoutOf(name);
      if (state !== "as it opens") layout.setAll(state === "open");
      check(layout);
    });

test("an edge into a block goes on to the block's own boxes", async () => {
  const layout = await layoutOf("deep");
  layout.setAll(true);
  assert.ok(check(layout) > 2);
});

test("whichever repeat is shown, what enters and leaves it is drawn", async () => {
  const layout = await layoutOf("deep"),
    fold = layout.stage.scopes.find((s) => s.kind === FOLD);
  layout.reveal(fold.children[0]);
  for (const repeat of [0, 7, fold.children.length - 1]) {
    layout.step(fold, repeat);
    check(layout);
    const kept = layout.kept[fold.i];
    for (const side of ["into", "out"]) assert.equal(kept[side].length, 1, `repeat ${repeat}, ${side}`);
  }
});

test("it opens as far as all of it can be read, level by level, and never leaves a single box", async () => {
  const { stage } = await layoutOf("step");
  const open = (wide, high) => {
    const layout = new Layout(stage);
    layout.openInto(wide, high);
    return layout;
  };
  const roomy = open(3000, 3000),
    tight = open(900, 10);
  assert.ok(stage.scopes.every((s) => roomy.open[s.i] || s.kind === LONE));
  assert.ok(flat(tight).boxes.filter((b) => !b.open).length > 3);
  const { w, h } = open(900, 500).extent();
  assert.ok(Math.min(900 / w, 500 / h) >= READABLE);
});

test("levels open what stands beside each other; the last opens as much as there is", async () => {
  const layout = await layoutOf("step"),
    seen = [];
  for (let level = 0; level <= layout.levels; level++) {
    layout.setLevel(level);
    seen.push(flat(layout).boxes.filter((b) => b.open).length);
  }
  assert.equal(seen[0], 0);
  assert.ok(seen.every((many, level) => !level || many > seen[level - 1]));
});

test("what is opened and closed again stands where it stood", async () => {
  const layout = await layoutOf("step"),
    before = flat(layout).boxes,
    scopes = before.filter((box) => layout.stage.isScope(box.id)).map((box) => layout.stage.scope(box.id));
  assert.ok(scopes.length > 2);
  for (const scope of scopes) {
    layout.toggle(scope);
    check(layout);
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
