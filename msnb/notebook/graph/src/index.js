// The ES module of the graph view. In a live notebook anywidget calls `render`; in a page without a kernel, `still` draws
// the same thing from the bytes it is given.
import { App } from "./app.js";
import { fromBase64 } from "./payload.js";

const bytesOf = view => view instanceof DataView ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : new Uint8Array(view);

function render({ model, el }) {
  const heard = [], on = (name, act) => { heard.push([name, act]); model.on(name, act); };
  const app = new App(el, {
    bytes: () => bytesOf(model.get("payload")), onBytes: act => on("change:payload", act), on: (name, act) => on(`change:${name}`, act),
    live: true, ask: what => model.send({ kind: what }), get: name => model.get(name), set: (name, value) => { if (model.get(name) !== value) { model.set(name, value); model.save_changes(); } },
  });
  on("msg:custom", (message, buffers) => { if (message?.kind === "whole" && buffers?.length) app.load(bytesOf(buffers[0])); });
  app.root.style.height = `${model.get("height") || 560}px`;
  return () => { for (const [name, act] of heard) model.off(name, act); app.destroy(); };
}

export function still(el, base64) {
  const state = { selected: -1 };
  return new App(el, { bytes: () => fromBase64(base64), onBytes: () => {}, on: () => {}, get: name => state[name], set: (name, value) => { state[name] = value; } });
}

export default { render };
