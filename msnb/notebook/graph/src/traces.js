// Def-use: what the box under the pointer (or the selected one) reads and feeds, across scopes.
import { curve } from "./draw.js";

const MOST_MEMBERS = 400; // nodes of a closed scope that are asked
const MOST_ENDS = 60;

// light the edges of a box that are drawn anyway
export function mark(pane, id) {
  const { things } = pane;
  for (const p of things.querySelectorAll(".e.in, .e.out")) p.classList.remove("in", "out");
  if (id < 0 || !pane.scene.at.has(id)) return;
  for (const p of things.querySelectorAll(`.e[data-b="${id}"]`)) p.classList.add("in");
  for (const p of things.querySelectorAll(`.e[data-a="${id}"]`)) p.classList.add("out");
}

// further ones, as SVG: to and from boxes in other scopes
export function traces(pane, id) {
  const { stage, layout } = pane;
  if (id < 0 || !pane.scene.at.has(id) || layout.isOpen(id)) return "";
  const near = stage.home(id),
    here = pane.place(id),
    members = stage.isScope(id) ? stage.below(stage.scope(id)) : [id],
    seen = new Set();
  let html = "";
  const far = (other, feeds) => {
    const stand = layout.standIn(other),
      key = stand * 2 + feeds;
    if (stand === id || seen.has(key) || seen.size > MOST_ENDS) return;
    seen.add(key);
    const there = pane.place(stand);
    if (!there || layout.isOpen(stand) || stage.home(stand) === near) return;
    html +=
      `<path class="${feeds ? "far-in" : "far-out"}" ` + `d="${between(feeds ? there : here, feeds ? here : there)}"/>`;
  };
  let visited = 0;
  for (const m of members) {
    if (++visited > MOST_MEMBERS) break;
    for (const ref of stage.inputs(m)) if (ref >= 0) far(ref, true);
    for (const r of stage.readers(m)) far(r, false);
  }
  return html;
}

function between(a, b) {
  const ax = a.x + a.w / 2,
    bx = b.x + b.w / 2;
  if (a.x > b.x + b.w || b.x > a.x + a.w) {
    // side by side: lanes
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
