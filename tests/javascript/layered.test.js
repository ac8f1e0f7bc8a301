// The layered layout in the browser puts every box where msnb/ir/layout/layered.py does.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { layered } from "../../msnb/notebook/graph/src/layered.js";

const GRAPHS = JSON.parse(readFileSync(new URL("layouts.json", import.meta.url), "utf8"));
const near = (given, wanted) => given === wanted || Math.abs(given - wanted) < 0.02;

function length(points) {
  if (!points) return null;
  let sum = 0;
  for (let i = 1; i < points.length; i++)
    sum += Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
  return sum;
}

for (const [number, graph] of GRAPHS.entries())
  test(`graph ${number} of ${graph.sizes.length} boxes has the places of the still picture`, () => {
    const made = layered(graph.sizes, graph.edges, graph.ports);
    assert.deepEqual(Array.from(made.rank), graph.ranks);
    const order = graph.order.map((_, rank) =>
      graph.ranks.flatMap((r, i) => (r === rank ? [i] : [])).sort((a, b) => made.x[a] - made.x[b]),
    );
    assert.deepEqual(order, graph.order);
    made.x.forEach((x, i) => assert.ok(near(x, graph.columns[i]), `column of box ${i}: ${x}, not ${graph.columns[i]}`));
    made.routes.forEach((points, i) => {
      const long = length(points);
      assert.ok(near(long, graph.routes[i]), `route of edge ${i}: ${long}, not ${graph.routes[i]}`);
    });
    assert.ok(near(made.w, graph.size[0]) && near(made.h, graph.size[1]), `${made.w} by ${made.h}, not ${graph.size}`);
  });

test("what has no boxes has no places", () => {
  assert.deepEqual(layered([], []), { x: [], y: [], rank: [], rows: [], routes: [], w: 0, h: 0 });
});
