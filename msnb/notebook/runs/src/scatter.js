// A scatter plot of two columns. A rectangle is a brush on both of them, which the parallel coordinates show too.
import { escape } from "../../src/escape.js";
import { setHtml } from "../../src/set_html.js";
import { Axis } from "./axes.js";
import { chosenColour } from "./colours.js";
import { Layer, at, draggable, surface } from "./surface.js";

const LEFT = 62,
  RIGHT = 14,
  TOP = 10,
  BOTTOM = 38,
  INSET = 8; // so that no dot stands on the frame

export class Scatter {
  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.element = document.createElement("div");
    this.element.className = "scatter";
    this.element.innerHTML =
      `<div class="tools"><label>across <select data-axis="x"></select></label> ` +
      `<label>up <select data-axis="y"></select></label></div>` +
      `<div class="plot"><canvas class="all"></canvas><canvas class="over" tabindex="0" role="img"></canvas></div>` +
      `<p class="soft read" aria-hidden="true"></p>`;
    this.all = new Layer(); // scales and all runs that are shown, below those that are picked
    [this.dots, this.over] = this.element.querySelectorAll("canvas");
    this.element.addEventListener("change", (e) => {
      this.app.set({ [e.target.dataset.axis]: e.target.value });
      this.settle();
    });
    this.over.addEventListener("pointermove", (e) => e.buttons || this.store.point(this.nearest(...at(e, this.over))));
    this.over.addEventListener("pointerleave", () => this.store.point(-1));
    draggable(this.over, (x, y) => {
      const there = this.nearest(x, y);
      return {
        move: (u, v) => this.frame(x, y, u, v),
        end: (moved) => {
          if (moved) return;
          if (there >= 0) this.app.choose(there);
          else this.store.brush([this.x.column.key, null], [this.y.column.key, null]);
        },
      };
    });
    this.over.addEventListener("keydown", (e) => {
      const to = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (e.key === "Enter" && this.store.hover >= 0) this.app.choose(this.store.hover);
      else if (to) {
        const order = this.store.picked.filter((i) => Number.isFinite(this.xs[i] + this.ys[i]));
        order.sort((a, b) => this.xs[a] - this.xs[b]);
        const k = order.indexOf(this.store.hover);
        this.store.point(order[k < 0 ? 0 : (k + to + order.length) % order.length] ?? -1);
      } else return;
      e.preventDefault();
      e.stopPropagation();
    });
  }
  settle() {
    const { store, app } = this,
      box = this.element.querySelector(".plot");
    this.width = Math.max(box.clientWidth, 160);
    this.height = 300;
    for (const select of this.element.querySelectorAll("select"))
      setHtml(select, app.options(app.state[select.dataset.axis]));
    const [cx, cy] = [store.of.get(app.state.x), store.of.get(app.state.y)];
    if (!cx || !cy) return;
    this.x = new Axis(cx, this.width > 420 ? 6 : 3);
    this.y = new Axis(cy, 5);
    this.xs = Float32Array.from(cx.values, (v) => this.px(this.x.to(v)));
    this.ys = Float32Array.from(cy.values, (v) => this.py(this.y.to(v)));
    if (cx.kind === "words") this.spread(this.xs, (this.width - LEFT - RIGHT) / Math.max(cx.words.length, 1));
    if (cy.kind === "words") this.spread(this.ys, (this.height - TOP - BOTTOM) / Math.max(cy.words.length, 1));
    this.drawAll();
    this.draw();
    this.drawOver();
  }
  // Runs with equal words are spread side by side, always at the same positions.
  spread(places, room) {
    for (let i = 0; i < places.length; i++) places[i] += (((i * 0.618034) % 1) - 0.5) * room * 0.6;
  }
  px(t) {
    return LEFT + INSET + t * (this.width - LEFT - RIGHT - 2 * INSET);
  }
  py(t) {
    return this.height - BOTTOM - INSET - t * (this.height - TOP - BOTTOM - 2 * INSET);
  }
  frame(x, y, u, v) {
    const across = (p) => (p - LEFT - INSET) / (this.width - LEFT - RIGHT - 2 * INSET),
      up = (p) => (this.height - BOTTOM - INSET - p) / (this.height - TOP - BOTTOM - 2 * INSET),
      part = (axis, a, b) => axis.brush(Math.max(0, Math.min(a, b)), Math.min(1, Math.max(a, b)));
    const brushes = [[this.y.column.key, part(this.y, up(y), up(v))]];
    if (this.x.column !== this.y.column) brushes.push([this.x.column.key, part(this.x, across(x), across(u))]);
    this.store.brush(...brushes);
  }
  drawAll() {
    if (!this.x) return;
    const { store, app } = this,
      { paint } = app,
      pen = this.all.pen(this.width, this.height, paint.bg);
    this.drawScales(pen, paint);
    pen.globalAlpha = 0.5;
    pen.fillStyle = paint.line;
    for (let i = 0; i < store.count; i++) if (store.shown[i]) this.dot(pen, i, 2.2);
  }
  // A run without a number on one of the axes is not drawn.
  dot(pen, i, r) {
    pen.fillRect(this.xs[i] - r, this.ys[i] - r, 2 * r, 2 * r);
  }
  drawScales(pen, paint) {
    const right = this.width - RIGHT,
      low = this.height - BOTTOM;
    pen.font = paint.font;
    pen.fillStyle = paint.soft;
    pen.strokeStyle = paint.line;
    pen.lineWidth = 1;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    let end = -Infinity;
    for (const [t, text] of this.x.ticks) {
      const x = this.px(t),
        wide = pen.measureText(text).width;
      pen.beginPath();
      pen.moveTo(x, TOP);
      pen.lineTo(x, low);
      pen.stroke();
      const from = Math.min(x - wide / 2, this.width - wide);
      if (from < end + 6) continue;
      pen.fillText(text, from + wide / 2, low + 5);
      end = from + wide;
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const [t, text] of this.y.ticks) {
      const y = this.py(t);
      pen.beginPath();
      pen.moveTo(LEFT, y);
      pen.lineTo(right, y);
      pen.stroke();
      pen.fillText(text.length > 9 ? `${text.slice(0, 8)}…` : text, LEFT - 6, y);
    }
    pen.textAlign = "center";
    pen.fillText(this.x.column.name, (LEFT + right) / 2, this.height - 8);
  }
  draw() {
    if (!this.x) return;
    const { store, app } = this,
      { paint, colouring } = app,
      pen = surface(this.dots, this.width, this.height, this.all),
      parts = new Map(); // colour -> runs: to change it for each run would take longer than to draw
    let drawn = 0;
    for (const i of store.picked) {
      if (!Number.isFinite(this.xs[i] + this.ys[i])) continue;
      drawn++;
      const colour = colouring.colours[colouring.of(i)] ?? paint.soft;
      if (!parts.has(colour)) parts.set(colour, []);
      parts.get(colour).push(i);
    }
    pen.globalAlpha = 0.85;
    for (const [colour, part] of parts) {
      pen.fillStyle = colour;
      for (const i of part) this.dot(pen, i, 3.2);
    }
    pen.globalAlpha = 1;
    this.over.setAttribute(
      "aria-label",
      `${this.y.column.name} over ${this.x.column.name}: ${drawn} runs. ` +
        `Left and right go from run to run, Enter ticks.`,
    );
    const none = store.picked.length - drawn;
    this.tell(none ? `${none} have no number in one of the two` : "");
  }
  tell(html) {
    setHtml(this.element.querySelector(".read"), html);
  }
  drawOver() {
    if (!this.x) return;
    const pen = surface(this.over, this.width, this.height),
      { store, app } = this,
      ring = (i, colour, r) => {
        if (!Number.isFinite(this.xs[i] + this.ys[i])) return;
        pen.beginPath();
        pen.arc(this.xs[i], this.ys[i], r, 0, 2 * Math.PI);
        pen.strokeStyle = app.paint.bg;
        pen.lineWidth = 4;
        pen.stroke();
        pen.strokeStyle = colour;
        pen.lineWidth = 2;
        pen.stroke();
      };
    store.chosen.forEach((i, rank) => ring(i, app.forced ?? chosenColour(rank, app.theme), 6));
    if (store.hover < 0) return;
    ring(store.hover, app.paint.ink, 5);
    this.tell(
      `<bdi>${escape(store.names[store.hover])}</bdi>: <bdi>${escape(this.x.column.name)}</bdi> ` +
        `${escape(this.x.column.text(store.hover) || "–")}, <bdi>${escape(this.y.column.name)}</bdi> ` +
        `${escape(this.y.column.text(store.hover) || "–")}`,
    );
  }
  nearest(x, y) {
    let best = -1,
      least = 100;
    for (const i of this.store.picked) {
      const off = (this.xs[i] - x) ** 2 + (this.ys[i] - y) ** 2;
      if (off < least) {
        least = off;
        best = i;
      }
    }
    return best;
  }
}
