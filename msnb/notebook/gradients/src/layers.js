// The first tab: one statistic, layer by layer.
import { axis, path } from "./chart.js";
import { notes, listenToPicker, picker, statisticsOf } from "./row_picker.js";
import { escape } from "../../src/escape.js";
import { ellipsize } from "../../src/ellipsize.js";
import { roving } from "../../src/roving.js";
import { formatNumber } from "./format.js";
import { STATISTIC } from "./labels.js";

const LOGARITHMIC = new Set(["norm", "rms", "std", "update", "weight"]);

export function layers(app) {
  const { data } = app,
    names = statisticsOf(app);
  if (!data.rows.length) {
    app.main.innerHTML = `<div class="note">No gradients recorded yet.</div>`;
    return;
  }
  if (!names.includes(app.statistic)) app.statistic = names[0];
  const focus = document.activeElement?.dataset?.pick,
    statistic = app.statistic,
    logarithmic = LOGARITHMIC.has(statistic);
  let rows = app.shown();
  if (app.kind === "parameter") {
    const weights = rows.filter(([row]) => row.shape.length > 1);
    if (weights.length > 1) rows = weights;
  }
  // A common ending such as ".weight" distinguishes nothing.
  const end = (name) => name.slice(name.lastIndexOf(".")),
    tail =
      rows.length > 1 && rows.every(([row]) => row.name.includes(".") && end(row.name) === end(rows[0][0].name))
        ? end(rows[0][0].name)
        : "";
  const width = Math.max(260, app.main.clientWidth - 4),
    height = Math.max(220, app.main.clientHeight - 56),
    left = 64,
    right = 18,
    top = 10,
    bottom = 92,
    letters = width < 600 ? 12 : 18;
  const w = width - left - right,
    h = height - top - bottom,
    x = (i) => left + (rows.length > 1 ? (w * i) / (rows.length - 1) : w / 2);
  const scale = axis(
    rows.flatMap(([row]) => row.values[statistic] || []),
    logarithmic,
    h,
  );
  if (!scale) {
    const zero = rows.some(([row]) => row.values[statistic]?.some((v) => v === 0));
    app.main.innerHTML =
      `<div class="controls">${picker(app, names)}</div><div class="note">` +
      `${zero ? "It is exactly 0 in every row and step: there is no curve to draw." : "No row has a number of this."}` +
      `</div>${notes(app)}`;
    listenToPicker(app, app.main);
    if (focus) app.main.querySelector(`[data-pick=${focus}]`)?.focus();
    return;
  }
  let parts = "";
  for (const [v, label] of scale.ticks)
    parts +=
      `<line class="grid" x1="${left}" x2="${left + w}" y1="${top + scale.place(v)}" ` +
      `y2="${top + scale.place(v)}"/><text x="${left - 7}" y="${top + scale.place(v) + 3.5}" ` +
      `text-anchor="end">${label}</text>`;
  const y = (v) => top + scale.place(v),
    every = Math.max(1, Math.ceil(data.steps.length / 24));
  for (let s = 0; s < data.steps.length; s += every)
    if (s !== app.step)
      parts += `<path class="past" d="${path(
        rows.map(([row]) => data.at(row, statistic, s)),
        x,
        y,
      )}"/>`;
  parts += `<path class="curve" d="${path(
    rows.map(([row]) => data.at(row, statistic, app.step)),
    x,
    y,
  )}"/>`;
  rows.forEach(([row, i], k) => {
    const v = data.at(row, statistic, app.step);
    if (v === null) return;
    const label = `${row.name}: ${STATISTIC[statistic]} ${formatNumber(v, statistic)}`,
      zero = logarithmic && v === 0;
    if (!Number.isFinite(v))
      parts += `<text class="nan" x="${x(k)}" y="${top + 12}" text-anchor="middle">${formatNumber(v)}</text>`;
    else
      parts +=
        `<circle class="dot${i === app.row ? " sel" : ""}${zero ? " zero" : ""}" data-row="${i}" ` +
        `cx="${x(k)}" cy="${y(v)}" r="${rows.length > 60 ? 3 : 4.5}" tabindex="-1" role="button" ` +
        `aria-label="${escape(label)}"><title>${escape(label)}${row.line ? `\n${escape(row.line)}` : ""}` +
        `</title></circle>`;
  });
  const each = Math.max(1, Math.ceil(rows.length / (w / 15)));
  rows.forEach(([row], k) => {
    if (k % each === 0 || k === rows.length - 1) {
      const name = ellipsize(row.name.slice(0, row.name.length - tail.length), letters);
      parts +=
        `<text transform="translate(${x(k) + 3} ${top + h + 12}) rotate(-48)" text-anchor="end">` +
        `${escape(name)}</text>`;
    }
  });
  app.main.innerHTML =
    `<div class="controls">${picker(app, names)}<span class="soft">layer by layer, input to ` +
    `output${tail && `; each ${escape(tail)}`}${data.steps.length > 1 ? "; pale: other steps" : ""}</span></div>
    <div class="chart"><svg width="${width}" height="${height}" role="group" ` +
    `aria-label="${escape(STATISTIC[statistic])} layer by layer">${parts}</svg></div>${notes(app)}`;
  listenToPicker(app, app.main);
  if (focus) app.main.querySelector(`[data-pick=${focus}]`)?.focus();
  const dots = app.main.querySelector(".chart"); // not the svg: who listens there makes it a Tab stop of its own
  roving(dots, ".dot", { from: (all) => all.find((dot) => +dot.dataset.row === app.row) ?? all[0] });
  const pick = (event) => {
    const row = event.target.closest(".dot")?.dataset.row;
    if (row === undefined) return false;
    app.select(+row); // which draws all of it anew
    app.main.querySelector(`.dot[data-row="${row}"]`)?.focus();
    return true;
  };
  dots.addEventListener("click", pick);
  dots.addEventListener("keydown", (event) => {
    if ((event.key !== "Enter" && event.key !== " ") || !pick(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}
