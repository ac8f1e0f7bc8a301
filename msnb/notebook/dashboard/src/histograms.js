// The tab of histograms: those of each tag in one figure.
import { escape } from "../../src/escape.js";
import { ellipsize } from "../../src/ellipsize.js";
import { roving } from "../../src/roving.js";
import { counted, filterField } from "./filter.js";
import { show, whole } from "./format.js";
import { fields, ridges, told } from "./ridges.js";

export class Histograms {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.form = "ridges";
    this.figures = new Map();
    panel.innerHTML =
      `<div class="tools">${filterField(app)}${fields(this.form, app.axis)}` +
      `<span class="soft count" role="status"></span></div><div class="grid"></div>`;
    panel.oninput = ({ target: { dataset, value } }) => {
      if (dataset.set === "filter") {
        app.filter = value;
        return this.fill();
      }
      if (dataset.set === "form") this.form = value;
      else if (dataset.set === "axis") app.setAxis(value);
      else return;
      app.redrawAll();
    };
    this.box = panel.querySelector(".grid");
    this.seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const one = this.figures.get(target.dataset.key);
        if (!one) continue;
        one.visible = isIntersecting;
        if (isIntersecting) app.redraw(one);
      }
    });
    this.fill();
  }
  close() {
    this.seen.disconnect();
  }
  fill() {
    const { app } = this,
      { shown, all } = app.valuesOf("histograms");
    this.panel.querySelector(".count").textContent = counted(app, shown.length, all, "figure");
    for (const [key, one] of shown) {
      let figure = this.figures.get(key);
      if (!figure) {
        const el = document.createElement("figure");
        el.className = "card";
        el.dataset.key = key;
        el.tabIndex = -1;
        el.innerHTML =
          `<figcaption><b title="${escape(one.tag)}">${escape(ellipsize(one.tag, 46))}</b>${app.named(one.run)}` +
          `<span class="bad"></span></figcaption>` +
          `<div class="plot"><canvas role="img"></canvas></div><div class="read" hidden></div>`;
        figure = { el, key, visible: false, draw: () => this.draw(figure) };
        this.figures.set(key, figure);
        this.seen.observe(el);
        el.addEventListener("pointermove", (event) => this.read(figure, event));
        el.addEventListener("pointerleave", () => (el.querySelector(".read").hidden = true));
      }
    }
    this.box.replaceChildren(...shown.map(([key]) => this.figures.get(key).el));
    this.settle ??= roving(this.box, ".card");
    this.settle();
    app.redrawAll();
  }

  draw(figure) {
    const { app } = this,
      one = app.histograms.get(figure.key),
      canvas = figure.el.querySelector("canvas"),
      steps = `steps ${one.steps[0]} to ${one.steps.at(-1)}`,
      words = `${one.tag}: ${one.steps.length} histograms, ${steps}, from ${show(one.low)} to ${show(one.high)}`;
    canvas.setAttribute("aria-label", words);
    const bad = one.bad.at(-1);
    figure.el.querySelector(".bad").textContent = bad ? `${whole(bad)} NaN or ∞` : "";
    figure.el.setAttribute("aria-label", bad ? `${words}; in the last ${whole(bad)} NaN or infinite` : words);
    figure.under = ridges(canvas, one, {
      form: this.form,
      axis: app.axis,
      began: app.runs[one.run].started ?? 0,
      colour: app.colour(one.run),
      paint: app.paint,
    });
  }

  read({ el, key, under }, event) {
    const box = el.querySelector("canvas").getBoundingClientRect(),
      read = el.querySelector(".read");
    read.hidden = !under;
    if (under)
      read.innerHTML = told(this.app.histograms.get(key), under(event.clientX - box.left, event.clientY - box.top));
  }
}
