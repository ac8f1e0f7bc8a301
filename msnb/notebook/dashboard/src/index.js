// The ES module of the dashboard: `render` in a live notebook, `still` in a page without a kernel.
import { bytesOf, fromBase64, unzip } from "../../src/bytes.js";
import { App } from "./app.js";
import { curvesOf, opened, unpacked } from "./wire.js";

async function imported(code) {
  const url = URL.createObjectURL(new Blob([await unzip(code)], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

// payload of a model -> the last view that showed it (of the model itself anywidget hands each view another proxy)
const last = new WeakMap();

function render({ model, el }) {
  const waiting = new Map(); // number of a question -> what to do with its answer
  let asked = 0,
    module = null;
  const app = new App(el, {
    cells: model.get("cells") ?? {},
    graphModule: () => (module ??= imported(bytesOf(model.get("code")))),
    ask:
      model.send &&
      ((message, act) => {
        waiting.set(++asked, act);
        model.send({ ...message, number: asked });
      }),
  });
  const load = () => app.load(bytesOf(model.get("payload")));
  const heard = (message, buffers) => {
    const bytes = buffers?.length && bytesOf(buffers[0]);
    if (message.news) app.news(bytes);
    else if (message.answer !== undefined) {
      const act = waiting.get(message.answer),
        found = opened(bytes);
      waiting.delete(message.answer);
      if (found.head.kind === "whole") app.load(bytes);
      else if (found.head.kind === "detail") act?.(curvesOf(found, found.head.scalars));
      else act?.(found.array(found.head.values));
    }
  };
  const former = last.get(model.get("payload"));
  if (former) app.adopt(former);
  else {
    load();
    if (model.get("live")) app.ask({ whole: true }); // a page that was opened again has missed what came meanwhile
  }
  last.set(model.get("payload"), app);
  model.on("change:payload", load);
  model.on("msg:custom", heard);
  return () => {
    model.off("change:payload", load);
    model.off("msg:custom", heard);
    app.destroy();
  };
}

export async function still(el, payload, code) {
  const app = new App(el, { graphModule: code && (() => imported(fromBase64(code))) });
  app.load(await unpacked(fromBase64(payload)));
  return app;
}

export default { render };
