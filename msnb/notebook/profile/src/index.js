// The ES module of the profile view: `render` in a live notebook, `still` in a page without a kernel.
import { bytesOf, fromBase64, unzip } from "../../src/bytes.js";
import { App } from "./app.js";

// the graph's own module travels beside this one and is only unpacked when the reader asks for the graph
async function graphModule(code) {
  const url = URL.createObjectURL(new Blob([await unzip(code)], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function open(el, parts) {
  const app = new App(el, JSON.parse(await unzip(parts.payload())), {
    graph:
      parts.graph && parts.graph().length
        ? async (into, panel) =>
            (await graphModule(parts.code())).mount(into, parts.graph(), {
              height: 460,
              cells: parts.cells,
              colour: "time",
              panel,
            })
        : null,
    cells: parts.cells,
  });
  return app;
}

async function render({ model, el }) {
  let app = null,
    closed = false;
  const draw = async () => {
    const tab = app?.tab;
    app?.destroy();
    el.replaceChildren();
    const made = await open(el, {
      payload: () => bytesOf(model.get("payload")),
      graph: () => bytesOf(model.get("graph")),
      code: () => bytesOf(model.get("code")),
      cells: model.get("cells"),
    });
    if (closed) made.destroy();
    else {
      app = made;
      if (tab) app.choose(tab);
    }
  };
  await draw();
  model.on("change:payload", draw);
  return () => {
    closed = true;
    model.off("change:payload", draw);
    app?.destroy();
  };
}

export const still = (el, payload, graph, code) =>
  open(el, {
    payload: () => fromBase64(payload),
    graph: () => fromBase64(graph),
    code: () => fromBase64(code),
    cells: {},
  });

export default { render };
