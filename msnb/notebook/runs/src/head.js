// The line above the views: number of runs, the best one, number of selected ones, the legend.
import { escape } from "../../src/escape.js";
import { setHtml } from "../../src/set_html.js";
import { Axis } from "./axes.js";
import { runs } from "./format.js";

export class Head {
  constructor(app) {
    this.app = app;
    const find = (selector) => app.root.querySelector(selector);
    [this.hits, this.clear, this.hidden] = [".hits", "[data-do=clear]", "[data-do=hidden]"].map(find);
  }
  put(selector, html) {
    setHtml(this.app.root.querySelector(selector), html);
  }
  draw() {
    const { store, target } = this.app,
      { data } = store,
      states = {};
    for (const state of data.states) states[state] = (states[state] ?? 0) + 1;
    const parts = Object.entries(states)
        .filter(([state]) => state !== "finished")
        .map(([state, many]) => `${many} ${escape(state)}`),
      best = this.best();
    this.put(
      ".title",
      `<b>${runs(store.count)}</b> in <bdi>${escape(data.folder)}</bdi>` +
        `${parts.length ? ` · ${parts.join(", ")}` : ""}` +
        (best === null
          ? ""
          : ` · best <bdi>${escape(target.name)}</bdi> <b>${escape(target.text(best))}</b> in ` +
            `<bdi>${escape(store.names[best])}</bdi>`),
    );
    this.hits.classList.toggle("warn", Boolean(store.problem));
    const narrowed = store.picked.length < store.count;
    this.put(
      ".hits",
      escape(store.problem ?? (narrowed ? `${store.picked.length} of ${runs(store.count)}` : runs(store.count))),
    );
    this.clear.hidden = !(store.filter || store.brushes.size);
    const many = store.hidden.reduce((sum, h) => sum + h, 0);
    this.hidden.hidden = !many;
    this.put("[data-do=hidden]", `${many} hidden`);
    this.hidden.setAttribute("aria-pressed", String(store.showHidden));
  }
  best() {
    const { store, target } = this.app;
    if (!target) return null;
    const up = store.data.more[target.name];
    let best = null;
    for (const i of store.picked) {
      const v = target.values[i];
      if (Number.isFinite(v) && (best === null || (up ? v > target.values[best] : v < target.values[best]))) best = i;
    }
    return best;
  }
  legend(column) {
    const { colours } = this.app.colouring;
    let html = "";
    if (column?.kind === "words" && !this.app.forced)
      html = column.words
        .slice(0, 8)
        .map(
          (w, i) =>
            `<span><i class="dot" style="background:${colours[i % colours.length]}"></i> ` +
            `<bdi>${escape(w)}</bdi></span>`,
        )
        .join(" ");
    else if (column && !this.app.forced) {
      const ends = new Axis(column),
        at = (t) => escape(column.text(nearest(column, ends, t)) || ""),
        ramp = `linear-gradient(90deg,${colours.filter((_, i) => i % 4 === 0).join(",")})`;
      html = `${at(0)} <i class="ramp" style="background:${ramp}"></i> ${at(1)}`;
    }
    this.put(".legend", html);
  }
}

function nearest(column, axis, t) {
  let best = 0,
    least = Infinity;
  column.values.forEach((v, i) => {
    const off = Math.abs(axis.to(v) - t);
    if (off < least) {
      least = off;
      best = i;
    }
  });
  return best;
}
