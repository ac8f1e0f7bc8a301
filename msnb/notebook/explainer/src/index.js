// The ES module of the explanations: `render` in a live notebook, `still` in a page without a kernel.
import { bytesOf, fromBase64, unzip } from "../../src/bytes.js";
import { App } from "./app.js";

const read = async (bytes) => JSON.parse(await unzip(bytes));

// Questions to the kernel with answers. A closed page waits for none.
function hostOf(model, hasNet) {
  const open = new Map();
  let serial = 0;
  return {
    hasNet,
    ask: (question) =>
      new Promise((answer) => {
        open.set(++serial, answer);
        model.send({ ...question, ask: serial });
      }),
    hear(message, buffers) {
      open.get(message.answer)?.({ ...message, buffers });
      open.delete(message.answer);
    },
    async mountGraph(into, [payload, code], options) {
      const shadow = into.attachShadow({ mode: "open" }), // its styles and these know nothing of each other
        url = URL.createObjectURL(new Blob([await unzip(bytesOf(code))], { type: "text/javascript" }));
      try {
        return (await import(/* @vite-ignore */ url)).mount(shadow, bytesOf(payload), options);
      } finally {
        URL.revokeObjectURL(url);
      }
    },
  };
}

async function render({ model, el }) {
  const host = hostOf(model, model.get("hasNet"));
  let app = null,
    closed = false;
  const early = [],
    hear = async (message, buffers) => {
      if (!app) early.push([message, buffers]);
      else if (message.news) app.take(await read(bytesOf(buffers[0])));
      else if (message.stopped) app.running.stop();
      else if (message.running) app.running.take(message, bytesOf(buffers[0]));
      else host.hear(message, buffers);
    };
  model.on("msg:custom", hear);
  const content = await read(bytesOf(model.get("payload")));
  if (closed) return () => {};
  app = new App(el, content, host);
  for (const [message, buffers] of early) await hear(message, buffers);
  // A page that was opened again has missed messages, so it asks for the present content.
  host
    .ask({ since: content.version })
    .then(async ({ buffers }) => buffers?.length && app.take(await read(bytesOf(buffers[0]))));
  return () => {
    closed = true;
    model.off("msg:custom", hear);
    app.destroy();
  };
}

export const still = async (el, payload) => new App(el, await read(fromBase64(payload)), null);

export default { render };
