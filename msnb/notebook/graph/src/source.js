// The source pane: open or closed, and the links between lines and nodes, here and in the notebook's own cells.
import { CodePane } from "./code.js";

export class Source {
  constructor(app) {
    this.app = app;
    this.shown = false;
    this.pane = null;
    // The notebook's extension reports the line of the cursor; the nodes of that line are highlighted.
    app.on(window, "msnb:cursor", (e) => this.atCursor(e.detail || {}));
  }
  get button() {
    return this.app.root.querySelector("[data-do='code']");
  }
  offer() {
    this.button.hidden = !Object.keys(this.app.data.files || {}).length;
  }
  open() {
    const { app } = this;
    this.pane = new CodePane(app.body, app.data.files, {
      get stage() {
        return app.panes[0].stage;
      },
      get scheme() {
        return app.colouring.scheme(app.panes[0].stage);
      },
      get dark() {
        return app.colouring.dark;
      },
      onLine: (ids, file, line) => {
        app.activate(app.panes[0]);
        this.mark([file, line]);
        app.finder.light(ids);
      },
    });
    app.body.prepend(this.pane.el);
    const { selected: id, stage } = app.panes[0];
    if (id >= 0 && id < stage.n) this.mark(stage.sourceOf(id));
  }
  close() {
    this.pane?.destroy();
    this.pane = null;
  }
  toggle() {
    this.shown = !this.shown;
    this.button.setAttribute("aria-pressed", String(this.shown));
    if (this.shown) this.open();
    else this.close();
    for (const p of this.app.panes) p.refit();
  }
  mark(place) {
    this.pane?.mark(place);
  }
  draw() {
    this.pane?.draw();
  }
  atCursor({ file, cell, line }) {
    const { stage, root, host, finder } = this.app;
    if (!stage || !root.isConnected) return;
    const cells = host.get("cells") || {},
      label = file || Object.keys(cells).find((k) => cells[k] === cell);
    if (!label) return;
    const found = [];
    for (let i = 0; i < stage.n; i++) {
      const s = stage.sourceOf(i);
      if (s && s[0] === label && s[1] === line) found.push(i);
    }
    this.mark([label, line]);
    finder.light(found);
  }
  // Ask the notebook's extension, if there is one, to show the line.
  reveal(id, asked = false) {
    const { stage, host } = this.app,
      source = id >= 0 && id < stage.n ? stage.sourceOf(id) : null;
    if (!source) return;
    const [file, line] = source,
      [first, lines] = this.app.data.files?.[file] ?? [0, []];
    window.dispatchEvent(
      new CustomEvent("msnb:reveal", {
        // The text is the line at the time of the trace: the cell may have been edited since.
        detail: { file, line, text: lines[line - first] ?? null, cell: host.get("cells")?.[file] ?? null, asked },
      }),
    );
  }
}
