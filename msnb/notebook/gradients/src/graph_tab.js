// The third tab: gradients as colours on the graph, drawn by the graph view.
import { details } from "./details.js";
import { unzip } from "../../src/bytes.js";
import { escape } from "../../src/escape.js";

export async function drawGraphTab(app) {
  const { data } = app;
  if (app.graph) {
    app.graph.setColumn("gradient", column(app), { colour: false });
    return;
  }
  if (!data.nodes || !app.host.graph().length) {
    app.main.innerHTML =
      `<div class="note">` +
      (data.mode === "PYNATIVE"
        ? `In PYNATIVE mode operators run one by one and there is no graph to colour; the table has them in the ` +
          `order in which they ran. In GRAPH mode (<code>set_context(mode=GRAPH_MODE)</code>) the graph is here.`
        : `The graph is too large to be carried along; <code>msnb.view</code> shows it.`) +
      `</div>`;
    return;
  }
  if (app.opening) return;
  app.opening = true;
  app.main.innerHTML = `<div class="graph"></div>`;
  try {
    app.module ??= await import(
      URL.createObjectURL(new Blob([await unzip(app.host.module())], { type: "text/javascript" }))
    );
    if (app.tab !== "graph") return;
    app.graph = app.module.mount(app.main.querySelector(".graph"), app.host.graph(), {
      colour: "kind",
      panel: false,
      onSelect: (id) => {
        const kind = data.rows.some((o) => o.kind === "gradient") ? "gradient" : "parameter",
          rowOf = (end) => data.rows.findIndex((r) => r.kind === kind && r[end] === id),
          own = rowOf("node"),
          at = own >= 0 ? own : rowOf("maker");
        if (at >= 0) {
          app.row = at;
          app.made = own >= 0 ? null : { row: at, by: nameOf(app.graph.app.stage, id) };
          details(app);
        }
      },
    });
    app.graph.setColumn("gradient", column(app), { colour: true });
    app.graph.colourBy?.("gradient");
    app.root.dataset.graph = "1";
  } catch (problem) {
    app.main.innerHTML = `<div class="note">The graph cannot be shown: ${escape(problem.message)}</div>`;
  } finally {
    app.opening = false;
  }
}

// The operator, with the name of the Cell on its box.
function nameOf(stage, id) {
  const [op, title] = [stage.op(id), stage.title(id)];
  return op === title ? op : `${op} of ${title}`;
}

function column(app) {
  const { data } = app,
    values = new Array(data.nodes).fill(null),
    note = new Array(data.nodes).fill(null),
    whole = data.rows.some((r) => r.kind === "gradient");
  for (const row of data.rows) {
    if (row.kind !== (whole ? "gradient" : "parameter")) continue;
    const v = data.at(row, "norm", app.step);
    if (v === null) continue;
    for (const id of [row.node, row.maker])
      if (id >= 0 && id < data.nodes && Number.isFinite(v)) {
        values[id] = v;
        note[id] = `gradient of ${row.name}, step ${data.steps[app.step]}`;
      }
  }
  return { label: "gradient norm", unit: "", fold: "max", scale: "log", values, note };
}
