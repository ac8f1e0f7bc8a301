// A scene in absolute coordinates: boxes (outer before inner) and edges, ready to be culled and drawn.
import { nameOf } from "./ports.js";
import { HEADER, LANE_GAP, MARGIN, PAD } from "./layout.js";

export function flatten(layout) {
  const { stage } = layout,
    boxes = [],
    edges = [],
    lanes = [],
    at = new Map();
  const lanesShown = layout.lanes(),
    many = lanesShown.length > 1,
    { w, h, top } = layout.extent();
  let x = MARGIN;
  const place = (scope, left, up, depth) => {
    const kept = layout.kept[scope.i];
    kept.edges.forEach((e, i) => {
      const route = kept.routes[i];
      if (!route) return;
      const points = route.map((p) => [left + p[0], up + p[1]]);
      if (e.port) points[e.rim === "into" ? 0 : points.length - 1][1] = e.port.top ? up - HEADER : up + kept.h + PAD;
      // The edge ends here, or continues from a port.
      edges.push({
        a: e.a,
        b: e.b,
        n: e.n,
        names: e.names,
        points,
        ends: e.rim !== "out" && !layout.goesOn(e),
      });
    });
    kept.items.forEach((id, i) => {
      const [w, tall] = kept.sizes[i],
        bx = left + kept.x[i] - w / 2,
        by = up + kept.y[i] - tall / 2,
        open = layout.isOpen(id);
      at.set(id, boxes.length);
      boxes.push({ id, x: bx, y: by, w, h: tall, open, depth });
      if (open) {
        const s = stage.scope(id);
        place(s, bx + (w - layout.kept[s.i].w) / 2, by + HEADER, depth + 1);
      }
    });
  };
  for (const s of lanesShown) {
    const kept = layout.kept[s.i],
      w = Math.max(kept.w, 110);
    if (many) lanes.push({ name: s.name, x: x + w / 2 });
    place(s, x + (w - kept.w) / 2, top, 0);
    x += w + LANE_GAP;
  }
  for (const e of edges) {
    let x0 = Infinity,
      x1 = -Infinity,
      y0 = Infinity,
      y1 = -Infinity;
    for (const [px, py] of e.points) {
      x0 = Math.min(x0, px);
      x1 = Math.max(x1, px);
      y0 = Math.min(y0, py);
      y1 = Math.max(y1, py);
    }
    Object.assign(e, { x0, x1, y0, y1 });
  }
  return { boxes, edges, lanes, at, w, h };
}

// Map from the name of a line (`ports.js`) to its index in `edges`; computed on first use.
export function linesOf(stage, scene) {
  if (!scene.lines) {
    scene.lines = new Map();
    scene.edges.forEach((e, at) => {
      for (const name of e.names || [nameOf(stage, e.a, e.b)]) scene.lines.set(name, at);
    });
  }
  return scene.lines;
}
