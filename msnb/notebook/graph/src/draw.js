// Draw a scene: as SVG if it is large enough to read, otherwise on a canvas.
import { escape } from "../../src/escape.js";
import { FOLD, CROWD } from "./constants.js";
import { outputLabel } from "./labels.js";
import { LARGER } from "./layout.js";

const r1 = (v) => Math.round(v * 10) / 10;
export function curve(points) {
  let d = `M${r1(points[0][0])},${r1(points[0][1])}`;
  for (let i = 1; i < points.length; i++) {
    const [ax, ay] = points[i - 1],
      [bx, by] = points[i],
      mid = (ay + by) / 2; // leave and arrive vertically
    d +=
      Math.abs(ax - bx) < 0.5
        ? `L${r1(bx)},${r1(by)}`
        : `C${r1(ax)},${r1(mid)} ${r1(bx)},${r1(mid)} ${r1(bx)},${r1(by)}`;
  }
  return d;
}

// The factor by which text is enlarged so that it is READABLE at this zoom.
export const larger = (zoom) => (zoom >= 0.85 ? 1 : zoom >= 0.7 ? 1.15 : LARGER);
const sized = (size, by) => (by > 1 ? ` style="font-size:${r1(size * by)}px"` : "");
const place = ({ id, x, y }) => `data-id="${id}" transform="translate(${r1(x)},${r1(y)})" role="treeitem"`;
const nodes = (stage, id) => `${stage.scope(id).size} node${stage.scope(id).size === 1 ? "" : "s"}`;

// An open scope is drawn in two steps: its frame below the edges, its heading above them.
export function frameHtml(stage, box) {
  const { id, w, h } = box,
    rect = (at) => `<rect${at} width="${r1(w)}" height="${r1(h)}" rx="8"/>`;
  return (
    `<g class="open" ${place(box)} aria-expanded="true" aria-label="${escape(stage.title(id))}, open, ` +
    `${nodes(stage, id)}">${stage.scope(id).kind === FOLD ? rect(' x="4" y="4"') : ""}${rect("")}</g>`
  );
}
export function headingHtml(stage, layout, { id, x, y, w }, zoom) {
  if (zoom < 0.12) return "";
  const s = stage.scope(id),
    by = zoom < 0.45 ? Math.min(2.2, 0.5 / zoom) : larger(zoom); // headings stay readable from afar
  return (
    `<g class="top" transform="translate(${r1(x)},${r1(y)})"><text class="head" x="9" y="16"${sized(11, by)}>` +
    `▾ ${escape(stage.title(id))}</text>${s.kind === FOLD && zoom > 0.3 ? foldButtons(layout, s, w) : ""}</g>`
  );
}

export function boxHtml(stage, paint, box, zoom) {
  const { id, w, h } = box,
    label = escape(stage.title(id)),
    scope = stage.isScope(id),
    style = paint.style(id),
    rx = scope ? 6 : stage.isArgument(id) ? h / 2 : 12,
    stacked = scope && (stage.scope(id).kind === FOLD || stage.scope(id).kind === CROWD);
  const rect = (dx, dy) =>
    `<rect x="${dx}" y="${dy}" width="${r1(w)}" height="${h}" rx="${rx}" ` +
    `style="fill:${zoom < 0.14 ? style.line : style.fill};stroke:${style.line}` +
    `${style.dash ? ";stroke-dasharray:3 3" : ""}"/>`;
  const given = paint.note?.(id) || outputLabel(stage, id),
    note = escape(stage.note(id, given)),
    by = zoom < 0.4 ? 1 : larger(zoom);
  const text = (type, y, size, words) =>
    `<text class="${type}" x="${r1(w / 2)}" y="${y}" text-anchor="middle" ` +
    `style="${style.ink ? `fill:${style.ink};` : ""}font-size:${r1(size * by)}px">${words}</text>`;
  const texts =
    zoom < 0.22
      ? ""
      : text("", zoom < 0.4 ? 22 : by > 1 ? 15.5 : 16, 11, `${scope ? "▸ " : ""}${style.sign || ""}${label}`) +
        (zoom < 0.4 ? "" : text("sub", by > 1 ? 30 : 29, 9.5, note));
  const weight = !scope && stage.inputs(id).some((ref) => ref < 0 && stage.params[-1 - ref].weight);
  const dot =
    weight && zoom > 0.3
      ? `<circle cx="0" cy="${h / 2}" r="3.5" style="fill:${style.line}"><title>reads a Parameter</title></circle>`
      : "";
  return (
    `<g class="n" ${place(box)}${scope ? ' aria-expanded="false"' : ""} aria-label="${spoken(stage, id, label)}` +
    `${scope ? note : escape(given)}, ${stage.laneOf(id)}">${stacked ? rect(4, 4) : ""}${rect(0, 0)}${texts}${dot}</g>`
  );
}
// Text for a screen reader: the operator before its Cell, or a scope with its number of nodes.
function spoken(stage, id, label) {
  if (stage.isScope(id)) return `${label}, ${nodes(stage, id)}, `;
  const op = stage.lone(id) ? escape(stage.op(id)) : label;
  return op === label ? `${label}, ` : `${op}, ${label}, `;
}

function foldButtons(layout, s, w) {
  const whole = layout.whole[s.i],
    at = layout.repeat[s.i],
    button = (x, wide, act, text, hint) =>
      `<g class="btn" data-act="${act}" data-fold="${s.i}" transform="translate(${x},5)" role="button" ` +
      `aria-label="${hint}"><title>${hint}</title><rect width="${wide}" height="15" rx="3"/><text x="${wide / 2}" ` +
      `y="11" text-anchor="middle">${text}</text></g>`;
  const right = r1(w - 8);
  if (s.count && s.children.length === 1)
    return `<text class="sub" x="${right}" y="16" text-anchor="end">× ${s.count}</text>`;
  if (whole) return button(right - 52, 52, "one", "fold", "show one repeat");
  return (
    button(right - 100, 15, "back", "‹", "repeat before") +
    `<text class="sub" x="${right - 64}" y="16" text-anchor="middle">${at + 1} / ${s.children.length}</text>` +
    button(right - 46, 15, "next", "›", "next repeat") +
    button(right - 28, 28, "all", "all", "show every repeat")
  );
}

// Edge e ends with an arrow, or with a dot on the rim of a scope in which it continues.
export function edgeHtml(e, number, mark, own = null) {
  const [colour, width] = own ?? ["", 1.1 + Math.min(2, Math.log2(e.n) * 0.35)],
    thick = e.n > 1 || own ? `stroke-width:${r1(width)}` : "",
    style = thick && ` style="${thick}${colour && `;stroke:${colour}`}"`;
  return (
    `<path class="e" data-e="${number}" d="${curve(e.points)}"${style} ` +
    `marker-end="url(#${mark}${e.ends ? "" : "-port"})"/>`
  );
}
export const markers = (mark) =>
  `<marker id="${mark}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" ` +
  `markerUnits="userSpaceOnUse"><path class="tip" d="M0,1L8,4L0,7z"/></marker><marker id="${mark}-port" ` +
  `viewBox="0 0 8 8" refX="4" refY="4" markerWidth="6" markerHeight="6" markerUnits="userSpaceOnUse">` +
  `<circle class="tip" cx="4" cy="4" r="3.4"/></marker>`;

// Draw all layers from the bottom to the top; edges: [[number, edge]].
export function pictureHtml(stage, layout, paint, scene, boxes, edges, zoom, mark) {
  let html = scene.lanes
    .map((l) => `<text class="lane" x="${l.x}" y="26" text-anchor="middle">${escape(l.name)}</text>`)
    .join("");
  for (const b of boxes) if (b.open) html += frameHtml(stage, b);
  for (const [number, e] of edges) html += edgeHtml(e, number, mark, paint.line?.(e));
  for (const b of boxes) html += b.open ? headingHtml(stage, layout, b, zoom) : boxHtml(stage, paint, b, zoom);
  return html;
}

// Draw rectangles and lines only: for the minimap, and for scenes with too many boxes for SVG elements.
export function paintCanvas(ctx, scene, paint, view, theme) {
  const { k, x, y, w, h } = view,
    x0 = -x / k,
    y0 = -y / k,
    x1 = x0 + w / k,
    y1 = y0 + h / k;
  ctx.save();
  ctx.translate(x, y);
  ctx.scale(k, k);
  for (const b of scene.boxes) {
    if (!b.open || b.x > x1 || b.x + b.w < x0 || b.y > y1 || b.y + b.h < y0) continue;
    ctx.fillStyle = theme.scope;
    ctx.globalAlpha = 0.06;
    ctx.fillRect(b.x, b.y, b.w, b.h);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = theme.line;
    ctx.lineWidth = 0.8 / k;
    ctx.strokeRect(b.x, b.y, b.w, b.h);
  }
  if (view.edges) {
    ctx.strokeStyle = theme.edge;
    ctx.lineWidth = 0.7 / k;
    ctx.globalAlpha = Math.min(1, k * 5 + 0.05);
    ctx.beginPath(); // from afar lines would cover the boxes
    for (const e of scene.edges) {
      if (e.x0 > x1 || e.x1 < x0 || e.y0 > y1 || e.y1 < y0) continue;
      ctx.moveTo(e.points[0][0], e.points[0][1]);
      for (let i = 1; i < e.points.length; i++) ctx.lineTo(e.points[i][0], e.points[i][1]);
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  const tiny = k < 0.1;
  for (const b of scene.boxes) {
    if (b.open || b.x > x1 || b.x + b.w < x0 || b.y > y1 || b.y + b.h < y0) continue;
    const style = paint.style(b.id);
    ctx.fillStyle = tiny ? style.line : style.fill;
    ctx.fillRect(b.x, b.y, b.w, b.h);
    if (!tiny) {
      ctx.strokeStyle = style.line;
      ctx.lineWidth = 1;
      ctx.strokeRect(b.x, b.y, b.w, b.h);
    }
  }
  if (view.titles && k > 0.12) {
    // A canvas has no elements to label, so only readable text is drawn.
    ctx.font = "600 11px system-ui, sans-serif";
    ctx.fillStyle = theme.ink;
    for (const b of scene.boxes)
      if (b.open && b.w * k > 60 && !(b.x > x1 || b.x + b.w < x0 || b.y > y1 || b.y + b.h < y0))
        ctx.fillText(view.titles(b.id), b.x + 9, b.y + 16);
    if (k > 0.3) {
      ctx.font = "11px system-ui, sans-serif";
      ctx.textAlign = "center";
      for (const b of scene.boxes)
        if (!b.open && !(b.x > x1 || b.x + b.w < x0 || b.y > y1 || b.y + b.h < y0)) {
          const style = paint.style(b.id);
          ctx.fillStyle = style.ink || theme.ink;
          ctx.fillText(view.titles(b.id), b.x + b.w / 2, b.y + b.h / 2 + 4);
        }
      ctx.textAlign = "left";
    }
  }
  ctx.restore();
}

// Return the innermost box at a point; the heading of an open scope counts as the scope.
export function hit(scene, px, py) {
  let best = null;
  for (const b of scene.boxes) if (px >= b.x && px <= b.x + b.w && py >= b.y && py <= b.y + b.h) best = b;
  return best;
}
