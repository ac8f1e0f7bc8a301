// The tab of pictures: a slider over the steps of each, brightness and contrast for all.
import { escape } from "../../src/escape.js";
import { ellipsize } from "../../src/ellipsize.js";
import { counted, filterField } from "./filter.js";
import { lasting, whole } from "./format.js";

const PNG = [0x89, 0x50, 0x4e, 0x47];

export class Images {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.urls = new Map();
    this.step = new Map(); // key -> step that the reader has chosen; none is the last one
    const range = (name, text) =>
      `<label>${text} <input type="range" min="0.2" max="3" step="0.05" value="1" data-set="${name}"></label>`;
    panel.innerHTML =
      `<div class="tools">${filterField(app)}${range("brightness", "brightness")}${range("contrast", "contrast")}` +
      `<label><input type="checkbox" data-set="together"> one slider for all</label>` +
      `<label><input type="checkbox" data-set="smooth"> smooth</label>` +
      `<span class="soft count" role="status"></span></div><div class="pictures"></div>`;
    panel.oninput = (event) => this.set(event.target);
    this.fill();
  }
  close() {
    for (const url of this.urls.values()) URL.revokeObjectURL(url);
  }

  set(field) {
    const box = this.panel.querySelector(".pictures"),
      name = field.dataset.set;
    if (name === "brightness" || name === "contrast") box.style.setProperty(`--${name}`, field.value);
    else if (name === "filter") {
      this.app.filter = field.value;
      this.fill();
    } else if (name === "smooth") box.classList.toggle("smooth", field.checked);
    else if (name === "together") this.together = field.checked;
    else if (field.closest("figure")) {
      const key = field.closest("figure").dataset.key,
        items = this.app.images.get(key).items,
        step = items[+field.value][0];
      this.step.set(key, +field.value === items.length - 1 ? undefined : step);
      if (this.together) for (const other of this.app.images.keys()) this.step.set(other, step);
      for (const figure of this.panel.querySelectorAll("figure"))
        if (this.together || figure.dataset.key === key) this.show(figure);
    }
  }

  fill() {
    const box = this.panel.querySelector(".pictures"),
      { app } = this;
    const { shown, all } = app.valuesOf("images");
    this.panel.querySelector(".count").textContent = counted(app, shown.length, all, "picture");
    const there = new Map([...box.children].map((figure) => [figure.dataset.key, figure]));
    box.replaceChildren(
      ...shown.map(([key, one]) => {
        let figure = there.get(key);
        if (!figure) {
          figure = document.createElement("figure");
          figure.className = "picture";
          figure.dataset.key = key;
          figure.innerHTML =
            `<figcaption><b title="${escape(one.tag)}">${escape(ellipsize(one.tag, 46))}</b>${app.named(one.run)}` +
            `</figcaption><img alt="">` +
            `<input type="range" min="0" step="1" aria-label="step of ${escape(one.tag)}"><output></output>`;
        }
        const slider = figure.querySelector("input");
        slider.max = one.items.length - 1;
        this.show(figure, one);
        return figure;
      }),
    );
  }
  show(figure, one = this.app.images.get(figure.dataset.key)) {
    const wanted = this.step.get(figure.dataset.key);
    let at = one.items.length - 1;
    if (wanted !== undefined)
      one.items.forEach(([step], i) => {
        if (Math.abs(step - wanted) < Math.abs(one.items[at][0] - wanted)) at = i;
      });
    const [step, seconds, width, height, bytes] = one.items[at],
      image = figure.querySelector("img");
    image.src = this.url(bytes);
    image.alt = `${one.tag} in step ${step}, ${width} x ${height}`;
    image.style.width = `${Math.max(width, Math.min(220, width * Math.ceil(120 / Math.max(width, 1))))}px`;
    const slider = figure.querySelector("input");
    slider.value = at;
    slider.disabled = one.items.length < 2;
    slider.setAttribute("aria-valuetext", `step ${step}`);
    figure.querySelector("output").textContent =
      `step ${whole(step)}, ${lasting(seconds)} · ${width} × ${height}` +
      (one.n > one.items.length ? ` · ${one.items.length} of ${one.n} steps` : "");
  }
  url(bytes) {
    if (!this.urls.has(bytes)) {
      const type = PNG.every((byte, i) => bytes[i] === byte) ? "image/png" : "image/jpeg";
      this.urls.set(bytes, URL.createObjectURL(new Blob([bytes], { type })));
    }
    return this.urls.get(bytes);
  }
}
