// The ES module of the gradient view. In a live notebook anywidget calls `render`; in a page without a kernel `mount`
// draws the same view from its bytes.
import { App } from "./app.js";
import { bytesOf } from "../../src/bytes.js";

export function mount(el, { payload, graph = new Uint8Array(), module = new Uint8Array() }) {
  return new App(el, { payload: () => payload, graph: () => graph, module: () => module });
}

function render({ model, el }) {
  const bytes = (name) => bytesOf(model.get(name));
  const app = new App(el, {
    payload: () => bytes("payload"),
    graph: () => bytes("graph"),
    module: () => bytes("module"),
    get: (name) => model.get(name),
    fetch: model.send && ((kind, name) => model.send({ fetch: [kind, name] })),
    set: (name, value) => {
      if (model.get(name) !== value) {
        model.set(name, value);
        model.save_changes();
      }
    },
  });
  app.root.style.height = `${model.get("height") || 620}px`;
  const changed = () => app.load(bytes("payload"));
  const heard = (message) => app.fetched(message);
  model.on("change:payload", changed);
  model.on("msg:custom", heard);
  return () => {
    model.off("change:payload", changed);
    model.off("msg:custom", heard);
    app.destroy();
  };
}

export default { render };
