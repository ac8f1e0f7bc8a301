// The menu of columns for table and axes: a checkbox for each, by group, with a filter for hundreds of them.
import { escape } from "../../src/escape.js";

const GROUPS = { run: "run", setting: "settings", data: "data", metric: "metrics" };

// `put(kind, keys)` is called with the ticked columns or axes.
export function chooser(app, put) {
  const box = document.createElement("div");
  box.className = "chooser";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Columns and axes");
  const draw = (word = "") => {
    const rows = Object.entries(GROUPS)
      .map(([group, title]) => {
        const of = app.store.columns.filter((c) => c.group === group && c.name.toLowerCase().includes(word));
        if (!of.length) return "";
        return (
          `<tr class="part"><th colspan="3" scope="rowgroup">${title}</th></tr>` +
          of
            .slice(0, 200)
            .map(
              (c) =>
                `<tr><th scope="row" title="${escape(c.name)}"><bdi>${escape(c.name)}</bdi>${
                  c.varies ? "" : ` <span class="soft">the same in all</span>`
                }</th>` +
                ["columns", "axes"]
                  .map(
                    (kind) =>
                      `<td><input type="checkbox" data-kind="${kind}" data-key="${escape(c.key)}" ` +
                      `aria-label="${escape(c.name)}: ${kind === "axes" ? "an axis" : "in the table"}"` +
                      `${app[kind].includes(c.key) ? " checked" : ""}></td>`,
                  )
                  .join("") +
                `</tr>`,
            )
            .join("")
        );
      })
      .join("");
    box.querySelector(".scroll").innerHTML =
      `<table><thead><tr><th scope="col">column</th><th scope="col">table</th><th scope="col">axis</th></tr></thead>` +
      `<tbody>${rows}</tbody></table>`;
  };
  box.innerHTML =
    `<input type="search" placeholder="find a column" aria-label="Find a column"><div class="scroll"></div>` +
    `<button data-do="columns">done</button>`;
  draw();
  box.addEventListener("input", (e) => {
    if (e.target.type === "search") draw(e.target.value.toLowerCase());
  });
  box.addEventListener("change", (e) => {
    const { kind, key } = e.target.dataset;
    if (!kind) return;
    put(kind, e.target.checked ? [...app[kind], key] : app[kind].filter((one) => one !== key));
  });
  return box;
}
