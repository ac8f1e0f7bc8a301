// The side panel with the details of one row.
import { axis, bars, colour, path, RAMP } from "./chart.js";
import { escape } from "../../src/escape.js";
import { isFiniteNumber, formatNumber } from "./format.js";
import { KIND, STATISTIC } from "./labels.js";

export function details(app) {
  const { data } = app,
    row = data.rows[app.row];
  app.side.hidden = !row || app.tab === "tensors";
  if (app.side.hidden) return;
  const facts = Object.keys(STATISTIC)
    .filter((k) => row.values[k])
    .map((k) => `<tr><td>${STATISTIC[k]}</td><td>${formatNumber(data.at(row, k, app.step), k) || "–"}</td></tr>`)
    .join("");
  const counts = data.barsOf(row, app.step),
    low = data.at(row, "min", app.step),
    high = data.at(row, "max", app.step),
    top = app.side.scrollTop;
  // An operator selected in the graph has a name of its own.
  const maker =
    app.made?.row === app.row
      ? `<div class="soft maker"><b>${escape(app.made.by)}</b> makes the gradient of</div>`
      : "";
  app.side.innerHTML =
    `<button style="float:right" data-do="close" aria-label="close">×</button>` +
    `${maker}` +
    `<h3>${escape(row.name)}</h3>
    <div class="soft">${KIND[row.kind][1]}, ${escape(row.dtype)} [${row.shape.join(", ")}]<br>` +
    `${escape([row.cell, row.op].filter(Boolean).join(" · "))} ${
      row.line ? `<button class="link" data-line="1">${escape(row.line)}</button>` : ""
    }</div>
    ${canShow(app, row) ? `<button data-do="values">its values in full</button>` : ""}
    ${counts ? `<h4>values in step ${data.steps[app.step]}</h4>${bars(counts, low, high, 290, 84)}` : ""}
    ${data.steps.length > 1 ? `<h4>norm over the steps</h4>${curve(app, row)}` : ""}
    ${
      data.steps.length > 1 && row.bars
        ? `<h4>values over the steps</h4><canvas data-heat role="img" ` +
          `aria-label="histograms of all steps"></canvas><div class="soft" data-span></div>`
        : ""
    }
    <h4>step ${data.steps[app.step]}</h4><table class="facts"><tbody>${facts}</tbody></table>`;
  app.side.scrollTop = top;
  app.side.querySelector("[data-do=close]").addEventListener("click", () => {
    app.row = -1;
    app.draw();
  });
  app.side.querySelector("[data-do=values]")?.addEventListener("click", () => app.fetch(row));
  app.side.querySelector("[data-line]")?.addEventListener("click", () => app.reveal(row.line));
  const canvas = app.side.querySelector("[data-heat]");
  if (canvas) heat(app, canvas, row);
}

function canShow(app, { kind, name }) {
  const same = ([a, b]) => a === kind && b === name;
  return app.data.tensors.some((t) => same([t.kind, t.name])) || (app.host.fetch && app.data.at_hand.some(same));
}

function curve(app, row) {
  const { data } = app,
    width = 290,
    height = 80,
    left = 46,
    values = row.values.norm,
    scale = axis(values, true, height),
    n = data.steps.length - 1,
    x = (i) => left + ((width - left - 4) * i) / n;
  if (!scale) return `<span class="soft">zero in every step</span>`;
  return (
    `<svg width="${width}" height="${height + 16}" role="img" aria-label="norm over the steps">${scale.ticks
      .map(
        ([v, t]) =>
          `<line class="grid" x1="${left}" x2="${width}" ` +
          `y1="${scale.place(v)}" y2="${scale.place(v)}"/><text x="${left - 5}" y="${scale.place(v) + 3.5}" ` +
          `text-anchor="end">${t}</text>`,
      )
      .join("")}
    <path class="curve" d="${path(values, x, scale.place, (v) => !isFiniteNumber(v) || v <= 0)}"/><line class="at" ` +
    `x1="${x(app.step)}" x2="${x(app.step)}" y1="0" y2="${height}"/>
    <text x="${left}" y="${height + 13}">${data.steps[0]}</text><text x="${width}" y="${height + 13}" ` +
    `text-anchor="end">${data.steps[n]}</text></svg>`
  );
}

function heat(app, canvas, row) {
  // all steps on one axis, from the 2nd to the 98th percentile of their ends, so that one wild step does not flatten
  // the rest
  const { data } = app,
    n = data.steps.length,
    ends = [...row.values.min, ...row.values.max].filter(isFiniteNumber).sort((a, b) => a - b);
  if (!ends.length) return;
  const low = ends[Math.floor(ends.length * 0.02)],
    high = ends[Math.min(ends.length - 1, Math.floor(ends.length * 0.98))],
    height = 64,
    stops = RAMP[app.dark ? "dark" : "light"];
  const width = 290,
    column = (s) => Math.round((s * width) / n);
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width}px`;
  canvas.style.height = "96px";
  const context = canvas.getContext("2d"),
    picture = context.createImageData(width, height);
  for (let s = 0; s < n; s++) {
    const counts = data.barsOf(row, s),
      a = data.at(row, "min", s),
      b = data.at(row, "max", s);
    for (let r = 0; r < height; r++) {
      const v = high - ((high - low) * (r + 0.5)) / height,
        k = b > a ? Math.floor(((v - a) / (b - a)) * data.bins) : Math.abs(v - a) < (high - low) / height ? 0 : -1;
      const rgb = colour(stops, counts && k >= 0 && k < data.bins ? Math.sqrt(counts[k] / 255) : 0);
      for (let x = column(s); x < column(s + 1); x++) picture.data.set([...rgb, 255], 4 * (r * width + x));
    }
  }
  context.putImageData(picture, 0, 0);
  context.fillStyle = app.dark ? "#f5a742" : "#d97706";
  context.fillRect(Math.min(width - 2, Math.round((column(app.step) + column(app.step + 1)) / 2) - 1), 0, 2, height);
  app.side.querySelector("[data-span]").textContent = `${formatNumber(low)} (bottom) to ${formatNumber(high)} (top)`;
}
