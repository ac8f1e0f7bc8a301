// The tab of graphs: the network and the data pipeline of a run, in the graph view.
import { escape } from "../../src/escape.js";

export class Graphs {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    const names = app.graphs.map(({ run, kind }, i) => {
      const who = app.runs.length > 1 ? `, ${app.runs[run].name}` : "";
      return `<option value="${i}">${escape(kind + who)}</option>`;
    });
    panel.innerHTML =
      `<div class="tools"><label>graph <select>${names.join("")}</select></label></div>` + `<div class="graph"></div>`;
    panel.oninput = (event) => event.target.matches(".tools select") && this.show(+event.target.value);
    this.show(0);
  }
  close() {
    this.closed = true;
    this.view?.destroy();
  }
  fill() {}
  async show(number) {
    const into = this.panel.querySelector(".graph"),
      module = await this.app.host.graphModule();
    if (this.closed) return;
    this.view?.destroy();
    into.replaceChildren();
    this.view = module.mount(into, this.app.graphs[number].payload, { height: 520, cells: this.app.host.cells ?? {} });
  }
}
