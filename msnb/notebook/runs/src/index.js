// The ES module of the table of runs: `render` in a live notebook, `still` in a page without a kernel.
import { bytesOf, fromBase64, unzip } from "../../src/bytes.js";
import { App } from "./app.js";

const LATER = 300; // milliseconds until what the reader chose is kept

// Questions to the kernel with answers, and the state that survives a redraw.
function hostOf(model) {
  let serial = 0,
    timer;
  const open = new Map(),
    hear = (message, buffers) => {
      const answer = open.get(message.answer);
      if (!answer) return;
      open.delete(message.answer);
      answer({ ...message, buffers });
    };
  model.on("msg:custom", hear);
  return {
    state: model.get("kept"),
    chosen: model.get("chosen"),
    keep(changes) {
      for (const [name, value] of Object.entries(changes)) model.set(name, structuredClone(value));
      clearTimeout(timer);
      timer = setTimeout(() => model.save_changes(), LATER);
    },
    ask: (question) =>
      new Promise((answer) => {
        open.set(++serial, answer);
        model.send({ ...question, ask: serial });
      }),
    async mountGraph(into, [payload, code], panel) {
      const shadow = into.attachShadow({ mode: "open" }), // its styles and these know nothing of each other
        url = URL.createObjectURL(new Blob([await unzip(bytesOf(code))], { type: "text/javascript" }));
      try {
        (await import(/* @vite-ignore */ url)).mount(shadow, bytesOf(payload), { height: 420, cells: {}, panel });
      } finally {
        URL.revokeObjectURL(url);
      }
    },
    close() {
      clearTimeout(timer);
      model.off("msg:custom", hear);
    },
  };
}

// payload of a model -> the last view that showed it (of the model itself anywidget hands each view another proxy)
const last = new WeakMap();

async function render({ model, el }) {
  const host = hostOf(model),
    read = async () => JSON.parse(await unzip(bytesOf(model.get("payload"))));
  const app = new App(el, await read(), host);
  const former = last.get(model.get("payload"));
  if (former) app.adopt(former); // a notebook draws an output anew when its cell is done
  last.set(model.get("payload"), app);
  let newest = 0;
  const change = async () => {
    const mine = ++newest,
      data = await read();
    if (mine !== newest) return; // an older one may be unpacked later
    app.take(data);
    last.set(model.get("payload"), app);
  };
  model.on("change:payload", change);
  return () => {
    newest++;
    model.off("change:payload", change);
    host.close();
    app.destroy();
  };
}

export const still = async (el, payload) => new App(el, JSON.parse(await unzip(fromBase64(payload))), null);

export default { render };
