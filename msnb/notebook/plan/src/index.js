// The ES module of the plans: `render` in a live notebook, `still` in a page without a kernel.
import { bytesOf, fromBase64, unzip } from "../../src/bytes.js";
import { App } from "./app.js";

async function render({ model, el }) {
  const waiting = new Map();
  let asked = 0,
    app = null,
    closed = false;
  const why = (plan, tensor, act) => {
    waiting.set(++asked, act);
    model.send({ why: [plan, tensor], number: asked });
  };
  const heard = ({ answer, ...told }) => {
    waiting.get(answer)?.(told);
    waiting.delete(answer);
  };
  model.on("msg:custom", heard);
  const told = JSON.parse(await unzip(bytesOf(model.get("payload"))));
  if (!closed) app = new App(el, told, model.get("live") ? why : null);
  return () => {
    closed = true;
    model.off("msg:custom", heard);
    app?.destroy();
  };
}

export const still = async (el, payload) => new App(el, JSON.parse(await unzip(fromBase64(payload))), null);

export default { render };
