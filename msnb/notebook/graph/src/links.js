// Links to boxes of a page: #layer1.0.conv is a scope by its attribute path, #layer1.0.conv/Conv2D a node in it,
// #layer1.0/Add:2 the second one of that name.
import { toClipboard } from "./copy.js";
import { CONTROL, SCOPE } from "./constants.js";
import { dotted, written } from "./search.js";

/** Map from link to id; items without a name of their own have none. */
function links(stage) {
  const found = new Map(),
    put = (name, id) => found.has(name) || found.set(name, id);
  for (const s of stage.scopes)
    if (s.kind === SCOPE || s.kind === CONTROL) {
      if (s.path) put(s.path, s.id);
      put(dotted(`${stage.path(s.id)}/${s.name}`.replace(/^\//, "")), s.id);
    }
  const count = new Map();
  for (let id = 0; id < stage.n; id++) {
    const name = `${written(stage, id)}/${stage.op(id)}`,
      times = (count.get(name) || 0) + 1;
    count.set(name, times);
    put(times > 1 ? `${name}:${times}` : name, id);
  }
  return found;
}

export async function copyLink(app, id) {
  const [name] = [...links(app.stage)].find((pair) => pair[1] === id) || [],
    own = window.parent === window && !app.host.live ? location.href.split("#")[0] : "";
  if (name === undefined) return app.pane.tell("this box has no name of its own");
  app.copied = `${own}#${encodeURI(name)}`;
  app.pane.tell((await toClipboard(app.copied, app.root)) ? `copied ${app.copied}` : "copying is not allowed here");
}

/** In a separate page: select the item that the address names, now and when the address changes. */
export function arrive(app) {
  const go = () => {
    const pane = app.panes[0],
      name = decodeURIComponent(location.hash.slice(1)),
      id = name && pane ? links(pane.stage).get(name) : undefined;
    if (id !== undefined) pane.select(id, { show: true });
    else if (name) pane?.tell(`there is no ${name} in this graph`);
  };
  app.ready.then(go);
  app.on(window, "hashchange", go);
}
