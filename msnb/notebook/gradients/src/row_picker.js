// Menus for the kind of rows and the statistic.
import { escape } from "../../src/escape.js";
import { KIND, STATISTIC } from "./labels.js";

export function picker(app, names) {
  return (
    `<label class="soft">of <select data-pick="kind">${app.kinds
      .map((k) => `<option value="${k}"${k === app.kind ? " selected" : ""}>${KIND[k][1]}</option>`)
      .join("")}</select></label>` +
    (names
      ? `<label class="soft">show <select data-pick="statistic">${names
          .map((k) => `<option value="${k}"${k === app.statistic ? " selected" : ""}>${STATISTIC[k]}</option>`)
          .join("")}</select></label>`
      : "")
  );
}

export function listenToPicker(app, where) {
  for (const box of where.querySelectorAll("[data-pick]"))
    box.addEventListener("change", () => {
      app[box.dataset.pick] = box.value;
      app.row = -1;
      app.draw();
    });
}

export function statisticsOf(app) {
  const found = new Set(app.shown().flatMap(([row]) => Object.keys(row.values)));
  return Object.keys(STATISTIC).filter((k) => found.has(k));
}

export function notes(app) {
  return app.data.notes.length ? `<div class="notes">${app.data.notes.map(escape).join("<br>")}</div>` : "";
}
