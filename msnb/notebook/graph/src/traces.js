// Def-use: highlight the inputs and the readers of the box under the pointer (or the selected one), across scopes.
import { curve } from "./draw.js";
import { nameOf } from "./ports.js";
import { linesOf } from "./scene.js";

const MOST_MEMBERS = 400; // nodes of a closed scope that are asked
const MOST_ENDS = 60;

// Yield [producer, reader, direction] for the inputs of a box, then for its readers.
function* ends(stage, id) {
  let visited = 0;
  for (const m of stage.isScope(id) ? stage.below(stage.scope(id)) : [id]) {
    if (++visited > MOST_MEMBERS) return;
    for (const other of stage.sources(m)) yield [other, m, "in"];
    for (const other of stage.users(m)) yield [m, other, "out"];
  }
}

// Highlight the lines into a box and out of it, through the rims of all scopes.
export function mark(pane, id) {
  const { things, stage, scene } = pane;
  for (const p of things.querySelectorAll(".e.in, .e.out")) p.classList.remove("in", "out");
  if (id < 0 || !scene.at.has(id)) return;
  const lines = linesOf(stage, scene);
  for (const [a, b, way] of ends(stage, id))
    for (const name of parts(stage, a, b) || []) {
      const at = lines.get(name);
      if (at !== undefined) pane.byEdge?.get(at)?.classList.add(way);
    }
}
// The names of the lines that draw the edge from a to b, in order; null if a and b are in two lanes, between which no
// line is drawn.
export function parts(stage, a, b) {
  const from = [...stage.chain(a).map((s) => s.id), a],
    to = [...stage.chain(b).map((s) => s.id), b];
  let common = 0;
  while (from[common] === to[common] && common < Math.min(from.length, to.length) - 1) common++;
  if (!common) return null;
  return [
    ...from
      .slice(common)
      .reverse()
      .map((id) => nameOf(stage, id, to[common])),
    ...to.slice(common + 1).map((id) => nameOf(stage, from[common], id)),
  ];
}

// SVG of the traces between lanes, which have no lines in the scene.
export function traces(pane, id) {
  const { stage, layout } = pane;
  if (id < 0 || !pane.scene.at.has(id) || layout.isOpen(id)) return "";
  const here = pane.place(id),
    seen = new Set();
  let html = "";
  for (const [a, b, way] of ends(stage, id)) {
    if (parts(stage, a, b)) continue;
    const feeds = way === "in",
      stand = layout.standIn(feeds ? a : b),
      key = stand * 2 + feeds,
      there = pane.place(stand);
    if (seen.has(key) || seen.size > MOST_ENDS || !there || layout.isOpen(stand)) continue;
    seen.add(key);
    html += `<path class="far-${way}" d="${between(feeds ? there : here, feeds ? here : there)}"/>`;
  }
  return html;
}

function between(a, b) {
  const ax = a.x + a.w / 2,
    bx = b.x + b.w / 2;
  if (a.x > b.x + b.w || b.x > a.x + a.w) {
    // The boxes are side by side: in two lanes.
    const right = b.x > a.x,
      x0 = right ? a.x + a.w : a.x,
      x1 = right ? b.x : b.x + b.w,
      y0 = a.y + a.h / 2,
      y1 = b.y + b.h / 2,
      mid = (x0 + x1) / 2;
    return `M${x0},${y0}C${mid},${y0} ${mid},${y1} ${x1},${y1}`;
  }
  return curve(
    a.y < b.y
      ? [
          [ax, a.y + a.h],
          [bx, b.y],
        ]
      : [
          [ax, a.y],
          [bx, b.y + b.h],
        ],
  );
}
