// The second tab: a table of all statistics of a step.
import { axis, path } from "./chart.js";
import { oneStop } from "../../src/grid.js";
import { notes, listenToPicker, picker, statisticsOf } from "./row_picker.js";
import { escape } from "../../src/escape.js";
import { isFiniteNumber, formatNumber } from "./format.js";
import { KIND, STATISTIC } from "./labels.js";

export function table(app) {
  const { data } = app,
    names = statisticsOf(app).filter((k) => k !== "rms" && k !== "weight"),
    focused = document.activeElement,
    typed = focused?.dataset?.find !== undefined && app.main.contains(focused) ? focused.selectionStart : null;
  const kept = document.activeElement?.dataset?.pick;
  let rows = app
    .shown()
    .filter(
      ([row]) =>
        !app.filter ||
        row.name.toLowerCase().includes(app.filter.toLowerCase()) ||
        row.op.toLowerCase().includes(app.filter.toLowerCase()),
    );
  if (app.sort) {
    const [key, sign] = app.sort,
      of = ([row]) => (key === "name" ? row.name : (data.at(row, key, app.step) ?? -Infinity));
    rows = [...rows].sort((a, b) => sign * (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0));
  }
  const arrow = (key) => (app.sort?.[0] === key ? (app.sort[1] > 0 ? " ↑" : " ↓") : ""),
    direction = (key) => (app.sort?.[0] === key ? (app.sort[1] > 0 ? "ascending" : "descending") : "none");
  const head = [
    ["name", KIND[app.kind][1]],
    ...(data.steps.length > 1 ? [[null, "norm over the steps"]] : []),
    ...names.map((k) => [
      k,
      STATISTIC[k].replace("standard deviation", "std").replace("smallest", "min").replace("largest", "max"),
    ]),
    [null, "line"],
  ];
  app.main.innerHTML =
    `<div class="controls">${picker(app)}<input type="search" data-find ` +
    `placeholder="filter by name or operator" aria-label="filter" value="${escape(app.filter)}"></div>
    <table class="rows"><thead><tr>${head
      .map(
        ([key, label]) =>
          `<th scope="col"${key ? ` aria-sort="${direction(key)}"` : ""}>${
            key ? `<button data-sort="${key}">${escape(label)}${arrow(key)}</button>` : escape(label)
          }</th>`,
      )
      .join("")}</tr></thead>
    <tbody>${rows
      .slice(0, 400)
      .map(
        ([row, i]) => `<tr data-row="${i}" class="${i === app.row ? "sel" : ""}"><td title="${escape(
          `${row.name} ${JSON.stringify(row.shape)}`,
        )}"><span class="kind" aria-hidden="true">${KIND[row.kind][0]}</span>${escape(row.name)}</td>
      ${data.steps.length > 1 ? `<td>${spark(app, row)}</td>` : ""}${names
        .map((k) => {
          const v = data.at(row, k, app.step);
          const bad = ((k === "nan" || k === "inf") && v > 0) || (v !== null && !Number.isFinite(v));
          return `<td class="${bad ? "bad" : ""}">${formatNumber(v, k)}</td>`;
        })
        .join("")}
      <td>${
        row.line ? `<button class="link" data-line="${escape(row.line)}">${escape(row.line)}</button>` : ""
      }</td></tr>`,
      )
      .join("")}</tbody></table>
    ${
      rows.length > 400 ? `<div class="notes">${rows.length - 400} more rows: filter to see them.</div>` : ""
    }${notes(app)}`;
  listenToPicker(app, app.main);
  if (kept) app.main.querySelector(`[data-pick=${kept}]`)?.focus();
  const find = app.main.querySelector("[data-find]");
  find.addEventListener("input", () => {
    app.filter = find.value;
    table(app);
  });
  if (typed !== null) {
    find.focus();
    find.setSelectionRange(typed, typed);
  }
  for (const button of app.main.querySelectorAll("[data-sort]"))
    button.addEventListener("click", () => {
      const key = button.dataset.sort,
        first = key === "name" ? 1 : -1;
      app.sort = app.sort?.[0] !== key ? [key, first] : app.sort[1] === first ? [key, -first] : null;
      app.place.focused = true;
      table(app);
    });
  for (const tr of app.main.querySelectorAll("tr[data-row]"))
    tr.addEventListener("click", (event) => {
      const link = event.target.closest("[data-line]");
      if (link) app.reveal(link.dataset.line);
      else app.select(+tr.dataset.row);
    });
  oneStop(app.main.querySelector("table.rows"), app.place);
}

function spark(app, row, width = 110, height = 18) {
  const values = row.values.norm || [],
    scale = axis(values, true, height - 4),
    n = Math.max(1, values.length - 1),
    x = (i) => (values.length > 1 ? 2 + ((width - 4) * i) / n : width / 2);
  if (!scale)
    return (
      `<svg width="${width}" height="${height}" role="img" aria-label="no gradient"><text x="2" y="13">` +
      `${values.some((v) => v === 0) ? "zero" : "–"}</text></svg>`
    );
  const now = values[app.step],
    y = (v) => 2 + scale.place(v);
  return (
    `<svg width="${width}" height="${height}" role="img" aria-label="norm over the steps, now ` +
    `${escape(formatNumber(now))}"><path class="curve" style="stroke-width:1.3" ` +
    `d="${path(values, x, y, (v) => !isFiniteNumber(v) || v <= 0)}"/>${
      isFiniteNumber(now) ? `<circle cx="${x(app.step)}" cy="${y(now)}" r="2.6" fill="var(--focus)"/>` : ""
    }</svg>`
  );
}
