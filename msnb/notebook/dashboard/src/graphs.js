// The tab of graphs: the network and the data pipeline of a run, in the graph view.
import { escape } from "../../src/escape.js";

export class Graphs {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    panel.innerHTML = `<div class="tools"><label>graph <select></select></label></div><div class="graph"></div>`;
    this.select = panel.querySelector("select");
    panel.oninput = (event) => event.target === this.select && this.show();
    this.fill();
  }
  close() {
    this.closed = true;
    this.view?.destroy();
  }
  // List the present graphs; the visible one stays, unless it was replaced.
  fill() {
    const { app, select } = this,
      keys = app.graphs.map(({ run, kind }) => `${app.runs[run].id} ${kind}`),
      chosen = Math.max(0, keys.indexOf(this.keys?.[select.selectedIndex]));
    this.keys = keys;
    select.innerHTML = app.graphs
      .map(({ run, kind }, i) => {
        const who = app.runs.length > 1 ? `, ${app.runs[run].name}` : "";
        return `<option${i === chosen ? " selected" : ""}>${escape(kind + who)}</option>`;
      })
      .join("");
    this.show();
  }
  async show() {
    const graph = this.app.graphs[this.select.selectedIndex];
    if (graph === this.shown) return;
    this.shown = graph;
    const into = this.panel.querySelector(".graph"),
      module = await this.app.host.graphModule();
    if (this.closed || graph !== this.shown) return;
    this.view?.destroy();
    into.replaceChildren();
    this.view = module.mount(into, graph.payload, { height: 520, cells: this.app.host.cells ?? {} });
  }
}
