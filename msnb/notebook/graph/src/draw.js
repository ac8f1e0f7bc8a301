// Draws a scene: as SVG what is near enough to read, on a canvas what is too much for that.
import { escape } from "../../src/escape.js";
import { FOLD, CROWD } from "./payload.js";
import { HEADER } from "./layout.js";

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

export function boxHtml(stage, layout, paint, box, zoom) {
  const { id, x, y, w, h, open } = box,
    name = stage.title(id),
    label = escape(name);
  const at = `data-id="${id}" transform="translate(${r1(x)},${r1(y)})" role="treeitem"`;
  if (open) {
    const s = stage.scope(id),
      fold = s.kind === FOLD;
    const back = fold ? `<rect x="4" y="4" width="${r1(w)}" height="${r1(h)}" rx="8"/>` : "";
    const big = zoom < 0.45 ? Math.min(2.2, 0.5 / zoom) : 1; // headings stay readable from afar
    return (
      `<g class="open" ${at} aria-expanded="true" aria-label="${label}, open, ${stage.note(id)}">${back}` +
      `<rect width="${r1(w)}" height="${r1(h)}" rx="8"/>` +
      (zoom < 0.12
        ? ""
        : `<text class="head" x="9" y="16"${big > 1 ? ` style="font-size:${r1(11 * big)}px"` : ""}>▾ ${label}</text>`) +
      (fold && zoom > 0.3 ? foldButtons(layout, s, w) : "") +
      "</g>"
    );
  }
  const style = paint.style(id),
    scope = stage.isScope(id),
    rx = scope ? 6 : stage.isArgument(id) ? h / 2 : 12;
  const stacked = scope && (stage.scope(id).kind === FOLD || stage.scope(id).kind === CROWD);
  const rect = (dx, dy) =>
    `<rect x="${dx}" y="${dy}" width="${r1(w)}" height="${h}" rx="${rx}" ` +
    `style="fill:${zoom < 0.14 ? style.line : style.fill};stroke:${style.line}` +
    `${style.dash ? ";stroke-dasharray:3 3" : ""}"/>`;
  const colour = style.ink ? ` style="fill:${style.ink}"` : "",
    note = paint.note?.(id) || stage.note(id);
  const texts =
    zoom < 0.22
      ? ""
      : `<text x="${r1(w / 2)}" y="${zoom < 0.4 ? 23 : 17}" text-anchor="middle"${colour}>` +
        `${scope ? "▸ " : ""}${style.sign || ""}${label}</text>` +
        (zoom < 0.4
          ? ""
          : `<text class="sub" x="${r1(w / 2)}" y="30.5" text-anchor="middle"${colour}>${escape(note)}</text>`);
  const weight = !scope && stage.inputs(id).some((ref) => ref < 0 && stage.params[-1 - ref].weight);
  const dot =
    weight && zoom > 0.3
      ? `<circle cx="0" cy="${h / 2}" r="3.5" style="fill:${style.line}"><title>reads a Parameter</title></circle>`
      : "";
  return (
    `<g class="n" ${at}${scope ? ' aria-expanded="false"' : ""} aria-label="${label}, ${escape(note)}, ` +
    `${stage.laneOf(id)}">${stacked ? rect(4, 4) : ""}${rect(0, 0)}${texts}${dot}</g>`
  );
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

export function edgeHtml(e, mark) {
  const thick = e.n > 1 ? ` style="stroke-width:${r1(1.1 + Math.min(2, Math.log2(e.n) * 0.35))}"` : "";
  return `<path class="e" data-a="${e.a}" data-b="${e.b}" d="${curve(e.points)}"${thick} marker-end="url(#${mark})"/>`;
}

// rectangles and lines only: the minimap, and scenes with more boxes than a browser likes to have as elements
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
    // a canvas has no elements to label, so only what can be read is written
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

// innermost box at a point; the heading of an open scope counts as the scope
export function hit(scene, px, py) {
  let best = null;
  for (const b of scene.boxes) if (px >= b.x && px <= b.x + b.w && py >= b.y && py <= b.y + b.h) best = b;
  return best;
}
export { HEADER };
