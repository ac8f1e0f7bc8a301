// The tab of histograms: one ridge for each step, all of them over each other, or how the distribution moved.
import { escape } from "../../src/escape.js";
import { roving } from "../../src/roving.js";
import { show, ticks, whole } from "./format.js";

const FORMS = { ridges: "ridges", overlaid: "one over the other", distribution: "distribution" };
const SHARES = [0, 0.07, 0.16, 0.31, 0.5, 0.69, 0.84, 0.93, 1];
const LEFT = 10,
  RIGHT = 52,
  TOP = 40,
  BOTTOM = 20;

export class Histograms {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.form = "ridges";
    this.figures = new Map();
    panel.innerHTML = `<div class="tools"><label>as <select data-set="form">${Object.entries(FORMS)
      .map(([key, text]) => `<option value="${key}">${text}</option>`)
      .join("")}</select></label></div><div class="grid"></div>`;
    panel.oninput = (event) => {
      if (event.target.dataset.set !== "form") return;
      this.form = event.target.value;
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
      shown = [...app.histograms].filter(([, one]) => !app.hidden.has(app.runs[one.run].id));
    for (const [key, one] of shown) {
      let figure = this.figures.get(key);
      if (!figure) {
        const el = document.createElement("figure");
        el.className = "card";
        el.dataset.key = key;
        el.tabIndex = -1;
        el.innerHTML =
          `<figcaption><b title="${escape(one.tag)}">${escape(one.tag)}</b>${app.named(one.run)}</figcaption>` +
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
    const one = this.app.histograms.get(figure.key),
      canvas = figure.el.querySelector("canvas"),
      width = canvas.clientWidth,
      height = canvas.clientHeight,
      scale = Math.min(devicePixelRatio || 1, 2);
    if (!width) return;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const c = canvas.getContext("2d");
    c.scale(scale, scale);
    c.font = "11px system-ui, 'Segoe UI', Roboto, sans-serif";
    const { paint } = this.app,
      rows = one.steps.length,
      colour = this.app.colour(one.run),
      right = width - RIGHT,
      bottom = height - BOTTOM,
      counts = (row) => one.counts.subarray(row * one.bins, (row + 1) * one.bins);
    const last = one.steps[rows - 1],
      span = `from ${show(one.low)} to ${show(one.high)}`,
      words = `${one.tag}: ${rows} histograms, steps ${one.steps[0]} to ${last}, ${span}`;
    canvas.setAttribute("aria-label", words);
    figure.el.setAttribute("aria-label", words);
    if (this.form === "distribution") {
      this.distribution(c, one, counts, { colour, paint, width, height });
      return;
    }
    const top = Math.max(...one.counts, 1e-9),
      atX = (bin) => LEFT + ((bin + 0.5) / one.bins) * (right - LEFT);
    const flat = this.form === "overlaid",
      gap = flat || rows < 2 ? 0 : (bottom - TOP) / (rows - 1),
      high = flat ? bottom - TOP + 20 : TOP - 4;
    c.lineWidth = 1;
    c.fillStyle = c.strokeStyle = paint.line;
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const [v, text] of ticks(one.low, one.high, Math.max(2, (right - LEFT) / 80), false)) {
      const x = LEFT + ((v - one.low) / (one.high - one.low)) * (right - LEFT);
      c.fillStyle = paint.soft;
      c.fillText(text, Math.max(14, Math.min(x, width - 16)), bottom + 5);
    }
    c.textAlign = "left";
    c.textBaseline = "middle";
    let said = -99;
    for (let row = 0; row < rows; row++) {
      const base = flat || rows < 2 ? bottom : TOP + row * gap,
        values = counts(row),
        age = rows < 2 ? 1 : row / (rows - 1);
      c.beginPath();
      c.moveTo(atX(0), base);
      for (let bin = 0; bin < one.bins; bin++) c.lineTo(atX(bin), base - (values[bin] / top) * high);
      c.lineTo(atX(one.bins - 1), base);
      if (!flat) {
        c.globalAlpha = 0.78;
        c.fillStyle = paint.bg;
        c.fill();
        c.globalAlpha = 0.15 + 0.45 * age;
        c.fillStyle = colour;
        c.fill();
      }
      c.globalAlpha = flat ? 0.2 + 0.8 * age : 0.5 + 0.5 * age;
      c.strokeStyle = colour;
      c.stroke();
      c.globalAlpha = 1;
      if (!flat && (base - said > 13 || row === rows - 1) && (row === rows - 1 || bottom - base > 12)) {
        c.fillStyle = paint.soft;
        c.fillText(whole(one.steps[row]), right + 6, base);
        said = base;
      }
    }
  }

  distribution(c, one, counts, { colour, paint, width, height }) {
    const rows = one.steps.length,
      quantiles = [];
    for (let row = 0; row < rows; row++) quantiles.push(shares(counts(row), one));
    const low = Math.min(...quantiles.map((q) => q[0])),
      high = Math.max(...quantiles.map((q) => q.at(-1))),
      first = one.steps[0],
      far = one.steps[rows - 1] - first || 1,
      left = 50,
      right = width - 8,
      bottom = height - BOTTOM,
      atX = (row) => left + ((one.steps[row] - first) / far) * (right - left),
      atY = (v) => bottom - ((v - low) / (high - low || 1)) * (bottom - 10);
    c.fillStyle = paint.soft;
    c.strokeStyle = paint.line;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.beginPath();
    for (const [v, text] of ticks(low, high, 5, false)) {
      c.moveTo(left, atY(v));
      c.lineTo(right, atY(v));
      c.fillText(text, left - 5, atY(v));
    }
    c.stroke();
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const [v] of ticks(first, first + far, Math.max(2, width / 100), false))
      c.fillText(whole(v), Math.min(width - 20, left + ((v - first) / far) * (right - left)), bottom + 5);
    c.fillStyle = colour;
    for (let pair = 0; pair < 4; pair++) {
      c.beginPath();
      for (let row = 0; row < rows; row++) c.lineTo(atX(row), atY(quantiles[row][pair]));
      for (let row = rows - 1; row >= 0; row--) c.lineTo(atX(row), atY(quantiles[row][8 - pair]));
      c.globalAlpha = 0.16;
      c.fill();
    }
    c.globalAlpha = 1;
    c.strokeStyle = colour;
    c.lineWidth = 1.5;
    c.beginPath();
    for (let row = 0; row < rows; row++) c.lineTo(atX(row), atY(quantiles[row][4]));
    c.stroke();
  }

  read({ el, key }, event) {
    const one = this.app.histograms.get(key),
      canvas = el.querySelector("canvas"),
      box = canvas.getBoundingClientRect(),
      read = el.querySelector(".read"),
      share = (event.clientY - box.top - TOP) / (box.height - BOTTOM - TOP),
      row = Math.max(0, Math.min(one.steps.length - 1, Math.round(share * (one.steps.length - 1)))),
      across = (event.clientX - box.left - LEFT) / (box.width - RIGHT - LEFT),
      bin = Math.max(0, Math.min(one.bins - 1, Math.floor(across * one.bins)));
    read.hidden = this.form === "distribution";
    const wide = (one.high - one.low) / one.bins,
      from = one.low + bin * wide,
      bad = one.bad[row] ? `, ${one.bad[row]} NaN or infinite` : "";
    read.innerHTML =
      `<span class="soft">step ${whole(one.steps[row])}</span><span>${show(from)} to ${show(from + wide)}: ` +
      `<b>${whole(one.counts[row * one.bins + bin])}</b>${bad}</span>`;
  }
}

function shares(counts, one) {
  const total = counts.reduce((sum, v) => sum + v, 0) || 1,
    wide = (one.high - one.low) / one.bins,
    made = [];
  let sum = 0,
    bin = 0;
  for (const share of SHARES) {
    const wanted = share * total;
    while (bin < one.bins - 1 && (sum + counts[bin] < wanted || (share === 0 && counts[bin] === 0)))
      sum += counts[bin++];
    const part = counts[bin] ? Math.min(1, Math.max(0, (wanted - sum) / counts[bin])) : 0;
    made.push(one.low + (bin + part) * wide);
  }
  return made;
}
