// The ES module of the graph view. In a live notebook anywidget calls `render`; in a page without a kernel, `still`
// draws the same view from its bytes; other widgets embed a graph with `mount`.
import { App } from "./app.js";
import { arrive } from "./links.js";
import { bytesOf, fromBase64 } from "../../src/bytes.js";

/** Draw a graph into an element.
 *
 * payload: the bytes of GraphView.payload. options: {columns: {name: bytes of GraphView.columns_packed}, colour,
 * height, selected, cells, toolbar: true, panel: true, onSelect(id)}.
 * Returns {setColumn(key, column or null, {stage, colour}), setPayload(bytes), colourBy(key), select(id), selected(),
 * onSelect(callback) -> off, destroy()}. Ids are those of graph.all_nodes(); -1 is none. */
export function mount(el, payload, options = {}) {
  const state = { selected: -1, ...options },
    heard = new Map(),
    chosen = new Set(options.onSelect ? [options.onSelect] : []);
  const tell = (name) => heard.get(name)?.();
  let bytes = payload;
  const app = new App(el, {
    bytes: () => bytesOf(bytes),
    onBytes: (act) => heard.set("bytes", act),
    on: (name, act) => heard.set(name, act),
    get: (name) => state[name],
    set: (name, value) => {
      const was = state[name];
      state[name] = value;
      if (name === "selected" && was !== value) for (const act of chosen) act(value);
    },
  });
  if (options.height) app.root.style.height = `${options.height}px`;
  app.root.classList.toggle("bare", options.toolbar === false);
  if (options.panel === false) app.showPanel(false);
  return {
    app,
    setColumn: (key, column, more) => app.ready.then(() => app.colouring.setColumn(key, column, more)),
    setPayload: (next) => {
      bytes = next;
      tell("bytes");
    },
    colourBy: (key) => {
      state.colour = key;
      tell("colour");
    },
    select: (id) => {
      state.selected = id;
      tell("selected");
    },
    selected: () => state.selected,
    onSelect: (act) => {
      chosen.add(act);
      return () => chosen.delete(act);
    },
    destroy: () => {
      chosen.clear();
      heard.clear();
      app.destroy();
    },
  };
}

// bytes of a payload -> the view that shows it, or the state of the last one: a newer output may replace an output.
// (The bytes identify the model, because anywidget passes each view another proxy of it.)
const shown = new WeakMap();

function render({ model, el }) {
  const heard = [],
    on = (name, act) => {
      heard.push([name, act]);
      model.on(name, act);
    };
  const last = shown.get(model.get("payload"));
  const app = new App(el, {
    bytes: () => bytesOf(model.get("payload")),
    onBytes: (act) => on("change:payload", act),
    on: (name, act) => on(`change:${name}`, act),
    live: true,
    kept: last?.keep ? last.keep() : last,
    ask: (what, more) => model.send({ kind: what, ...more }),
    get: (name) => model.get(name),
    set: (name, value) => {
      if (model.get(name) !== value) {
        model.set(name, value);
        model.save_changes();
      }
    },
  });
  on("msg:custom", (message, buffers) => {
    if (message?.kind === "whole" && buffers?.length) app.load(bytesOf(buffers[0]));
    else if (message?.kind === "said") app.tell(message.text);
    else if (message?.kind === "value") app.values.receive(message);
    else if (message?.kind === "hover") app.values.receiveNumbers(message);
    else if (message?.kind === "excite") app.values.receiveExamples(message);
    else if (message?.kind === "file") app.values.receiveFile(message, buffers);
    else if (message?.kind === "change") app.changing.receive(message);
    else if (message?.kind === "attributes") app.changing.receiveAttributes(message);
    else if (message?.kind === "weight") app.weights.show(message.name, message.html);
    else if (message?.kind === "printed") app.taking.answer?.(message.text);
  });
  // The manager reports a restarted kernel; a view that is created later gets this class from the manager.
  on("comm_live_update", () => {
    el.classList.add("jupyter-widgets-disconnected");
    app.stepper?.renew();
  });
  const note = () => shown.set(model.get("payload"), app);
  note();
  on("change:payload", note);
  app.root.style.height = `${model.get("height") || 560}px`;
  return () => {
    for (const [name, act] of heard) model.off(name, act);
    if (shown.get(model.get("payload")) === app) shown.set(model.get("payload"), app.keep());
    app.destroy();
  };
}

export function still(el, base64) {
  const made = mount(el, fromBase64(base64));
  arrive(made.app);
  return made;
}

export default { render };
