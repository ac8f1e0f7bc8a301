// The ES module of the labelling page: `render` in a live notebook, `still` in a page without a kernel.
import { bytesOf, fromBase64 } from "../../src/bytes.js";
import { App } from "./app.js";

function render({ model, el }) {
  const waiting = new Map(); // number of a question -> function of its answer
  let asked = 0;
  const ask = (message, act) => {
    waiting.set(++asked, act);
    model.send({ ...message, number: asked });
  };
  const app = new App(el, JSON.parse(model.get("state")), model.get("live") ? ask : null);
  const heard = (message, buffers) => {
    if (message.state) app.update(message.state);
    if (message.answer === undefined) return;
    waiting.get(message.answer)?.(message, (buffers ?? []).map(bytesOf));
    waiting.delete(message.answer);
  };
  model.on("msg:custom", heard);
  return () => {
    model.off("msg:custom", heard);
    app.destroy();
  };
}

export function still(el, state) {
  return new App(el, JSON.parse(new TextDecoder().decode(fromBase64(state))), null);
}

export default { render };
