// Parallel coordinates: an axis for each column, a line for each run. A range marked on an axis is a brush; several
// brushes select their intersection. The head of an axis opens its form, for the keyboard.
import { escape } from "../../src/escape.js";
import { ellipsize } from "../../src/ellipsize.js";
import { Axis } from "./axes.js";
import { chosenColour } from "./colours.js";
import { holds, said } from "./store.js";
import { Layer, at, draggable, surface } from "./surface.js";

const TOP = 40,
  BOTTOM = 26,
  SIDE = 54,
  GRIP = 14, // pixels beside an axis that belong to it
  AROUND = 10, // pixels of a head beside its name
  EDGE = 5; // of a brush, by which it is made longer
const end = (v) => (Number.isFinite(v) ? v : ""); // of a brush, in a field
const put = (list, place, one) => [...list.slice(0, place), one, ...list.slice(place)];

export class Parallel {
  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.height = 260;
    this.element = document.createElement("div");
    this.element.className = "parallel";
    this.element.innerHTML =
      `<canvas class="picked"></canvas><canvas class="over" role="img"></canvas>` +
      `<div class="heads" role="group" aria-label="axes"></div><div class="form" hidden></div>`;
    [this.lines, this.over] = this.element.querySelectorAll("canvas");
    this.all = new Layer(); // below the lines that are picked
    this.scales = new Layer(); // above all lines, on the canvas that a brush leaves alone
    this.heads = this.element.querySelector(".heads");
    this.form = this.element.querySelector(".form");
    draggable(this.over, (x, y) => this.drag(x, y));
    this.over.addEventListener("pointermove", (e) => e.buttons || this.move(...at(e, this.over)));
    this.over.addEventListener("pointerleave", () => this.store.point(-1));
    this.over.addEventListener("dblclick", (e) => {
      const axis = this.axisAt(at(e, this.over)[0]);
      if (axis) this.store.brush([axis.column.key, null]);
    });
    this.heads.addEventListener("click", (e) => {
      const head = e.target.closest("button");
      if (head) this.open(head.dataset.key);
    });
    this.dragHeads();
  }
  // Columns, size, theme or runs have changed.
  settle() {
    const { store } = this;
    this.axes = this.app.axes
      .map((key) => store.of.get(key))
      .filter(Boolean)
      .map((column) => new Axis(column));
    this.width = Math.max(this.element.clientWidth, 200);
    const span = this.width - 2 * SIDE,
      many = this.axes.length;
    this.bottom = this.height - BOTTOM;
    this.axes.forEach((axis, k) => {
      axis.x = many > 1 ? SIDE + (span * k) / (many - 1) : this.width / 2;
      const ys = new Float32Array(store.count),
        { values } = axis.column;
      for (let i = 0; i < store.count; i++) {
        const t = axis.to(values[i]);
        ys[i] = Number.isFinite(t) ? this.y(t) : this.height - 8;
      }
      axis.ys = ys;
      axis.none = values.some((v) => !Number.isFinite(v)); // whether there are runs without a number
    });
    const room = Math.min(170, many > 1 ? Math.floor(span / (many - 1)) - 4 : span);
    const focused = this.heads.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.heads.innerHTML = this.axes
      .map(
        ({ column, x }) =>
          `<button data-key="${escape(column.key)}" style="left:${x}px;max-width:${room}px" ` +
          `class="${column.group}" title="${escape(column.name)}: open to choose a range by keyboard; drag to move" ` +
          `aria-haspopup="dialog" aria-label="${escape(column.name)}">` +
          `<bdi>${escape(this.fitted(column.name, room - AROUND))}</bdi></button>`,
      )
      .join("");
    if (focused) [...this.heads.children].find((b) => b.dataset.key === focused)?.focus();
    this.element.style.height = `${this.height}px`;
    this.drawScales();
    this.drawAll();
    this.drawPicked();
    this.drawOver();
  }
  // Shorten a name to a width in pixels.
  fitted(name, room) {
    const pen = this.scales.canvas.getContext("2d");
    pen.font = this.app.paint.head;
    let most = name.length;
    while (most > 3 && pen.measureText(ellipsize(name, most)).width > room) most--;
    return ellipsize(name, most);
  }
  y(t) {
    return this.bottom - t * (this.bottom - TOP);
  }
  t(y) {
    return (this.bottom - y) / (this.bottom - TOP);
  }
  trace(pen, i) {
    const { axes } = this;
    pen.moveTo(axes[0].x, axes[0].ys[i]);
    for (let k = 1; k < axes.length; k++) pen.lineTo(axes[k].x, axes[k].ys[i]);
  }
  drawAll() {
    const pen = this.all.pen(this.width, this.height, this.app.paint.bg),
      { store } = this;
    if (!this.axes.length) return;
    pen.strokeStyle = this.app.paint.line;
    pen.globalAlpha = store.showing > 300 ? 0.35 : 0.7;
    pen.beginPath();
    for (let i = 0; i < store.count; i++) if (store.shown[i]) this.trace(pen, i);
    pen.stroke();
  }
  drawPicked() {
    const { store, app } = this,
      { paint, colouring } = app,
      pen = surface(this.lines, this.width, this.height, this.all);
    if (this.axes.length) {
      const parts = colouring.colours.map(() => []),
        rest = [];
      for (const i of store.picked) (parts[colouring.of(i)] ?? rest).push(i);
      pen.globalAlpha = Math.max(0.35, Math.min(0.85, 12 / Math.sqrt(store.picked.length + 1)));
      pen.lineWidth = 1;
      for (const [colour, part] of [[paint.soft, rest], ...parts.map((p, k) => [colouring.colours[k], p])]) {
        if (!part.length) continue;
        pen.strokeStyle = colour;
        pen.beginPath();
        for (const i of part) this.trace(pen, i);
        pen.stroke();
      }
      pen.globalAlpha = 1;
    }
    for (const axis of this.axes) this.drawBrush(pen, axis, paint);
    this.over.setAttribute(
      "aria-label",
      `Parallel coordinates of ${this.axes.map((a) => a.column.name).join(", ")}: ` +
        `${store.picked.length} of ${store.count} runs${[...store.brushes]
          .map(([key, brush]) => `, ${store.of.get(key).name} ${said(store.of.get(key), brush)}`)
          .join("")}`,
    );
  }
  drawBrush(pen, axis, paint) {
    const brush = this.store.brushes.get(axis.column.key),
      place = axis.place(brush);
    if (axis.none) {
      pen.fillStyle = brush?.none ? paint.accent : paint.soft;
      pen.fillRect(axis.x - 3, this.height - 11, 6, 6);
    }
    if (!place) return;
    const [low, high] = [this.y(place[1]), this.y(place[0])];
    pen.fillStyle = paint.accent;
    pen.globalAlpha = 0.25;
    pen.fillRect(axis.x - 7, low, 14, Math.max(high - low, 2));
    pen.globalAlpha = 1;
    pen.strokeStyle = paint.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(axis.x - 7, low, 14, Math.max(high - low, 2));
  }
  drawScales() {
    const pen = this.scales.pen(this.width, this.height),
      { paint } = this.app;
    pen.font = paint.font;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    for (const axis of this.axes) {
      const last = axis === this.axes.at(-1) && this.axes.length > 1,
        write = (text, y) => {
          const x = last ? axis.x - 6 : axis.x + 6;
          pen.lineWidth = 3;
          pen.strokeStyle = paint.bg;
          pen.strokeText(text, x, y);
          pen.fillStyle = paint.ink;
          pen.fillText(text, x, y);
        };
      pen.textAlign = last ? "right" : "left";
      pen.strokeStyle = paint.ink;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(axis.x, this.y(1));
      pen.lineTo(axis.x, this.y(0));
      pen.stroke();
      for (const [t, text] of axis.ticks) write(text.length > 18 ? `${text.slice(0, 17)}…` : text, this.y(t));
      if (axis.none) write("none", this.height - 8);
    }
  }
  drawOver() {
    const pen = surface(this.over, this.width, this.height),
      { store, app } = this;
    if (!this.axes.length) return;
    const one = (i, colour, wide) => {
      pen.beginPath();
      this.trace(pen, i);
      pen.strokeStyle = app.paint.bg;
      pen.lineWidth = wide + 2;
      pen.stroke();
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.stroke();
    };
    store.chosen.forEach((i, rank) => one(i, app.forced ?? chosenColour(rank, app.theme), 2.5));
    if (store.hover >= 0) one(store.hover, app.paint.ink, 2);
    this.scales.put(pen); // what stands there stays legible
  }
  axisAt(x) {
    return this.axes.find((axis) => Math.abs(axis.x - x) <= GRIP) ?? null;
  }
  drag(x, y) {
    const axis = this.axisAt(x);
    if (!axis) return this.press(x, y);
    const { key } = axis.column,
      put = (from, to) => this.store.brush([key, axis.brush(from, to)]);
    if (y > this.bottom + 10) {
      const on = this.store.brushes.get(key)?.none;
      return { move() {}, end: () => this.store.brush([key, on ? null : { none: true }]) };
    }
    const now = axis.place(this.store.brushes.get(key)),
      from = this.t(y);
    let move = (to) => put(Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to)));
    if (now) {
      const near = (t) => Math.abs(this.y(t) - y) <= EDGE;
      if (near(now[1])) move = (to) => put(now[0], Math.max(now[0], Math.min(1, to)));
      else if (near(now[0])) move = (to) => put(Math.min(now[1], Math.max(0, to)), now[1]);
      else if (from > now[0] && from < now[1])
        move = (to) => {
          const by = Math.max(-now[0], Math.min(1 - now[1], to - from));
          put(now[0] + by, now[1] + by);
        };
    }
    return {
      move: (_, v) => move(this.t(v)),
      end: (moved) => moved || this.store.brush([key, null]),
    };
  }
  // A press between the axes ticks the run under the pointer.
  press(x, y) {
    const i = this.nearest(x, y);
    return i < 0 ? null : { move() {}, end: (moved) => moved || this.app.choose(i) };
  }
  nearest(x, y) {
    const k = this.axes.findIndex((axis, at) => at && axis.x >= x);
    if (k < 1) return -1;
    const [a, b] = [this.axes[k - 1], this.axes[k]],
      t = (x - a.x) / (b.x - a.x);
    let best = -1,
      least = 9;
    for (const i of this.store.picked) {
      const off = Math.abs(a.ys[i] + (b.ys[i] - a.ys[i]) * t - y);
      if (off < least) {
        least = off;
        best = i;
      }
    }
    return best;
  }
  move(x, y) {
    const axis = this.axisAt(x);
    this.over.style.cursor = axis ? "crosshair" : "";
    this.store.point(axis ? -1 : this.nearest(x, y));
  }
  // An axis is moved by dragging its head.
  dragHeads() {
    let from = null;
    this.heads.addEventListener("pointerdown", (e) => {
      const head = e.target.closest("button");
      if (head && e.button === 0) from = { key: head.dataset.key, x: e.clientX, head };
    });
    this.heads.addEventListener("pointermove", (e) => {
      if (from && Math.abs(e.clientX - from.x) > 8) {
        from.moved = true;
        from.head.style.transform = `translateX(calc(-50% + ${e.clientX - from.x}px))`;
        from.head.setPointerCapture(e.pointerId);
      }
    });
    const end = (e) => {
      if (from?.moved) {
        const x = at(e, this.heads)[0],
          others = this.axes.filter((axis) => axis.column.key !== from.key),
          place = others.filter((axis) => axis.x < x).length;
        this.app.setAxes(
          put(
            others.map((axis) => axis.column.key),
            place,
            from.key,
          ),
        );
        this.heads.addEventListener("click", (click) => click.stopImmediatePropagation(), {
          once: true,
          capture: true,
        });
      }
      from = null;
    };
    this.heads.addEventListener("pointerup", end);
    this.heads.addEventListener("pointercancel", end);
  }
  // Open the form of an axis: fields for its range or its words, its position, and buttons to sort and colour by it.
  open(key) {
    const axis = this.axes.find((one) => one.column.key === key),
      { column } = axis,
      brush = this.store.brushes.get(key),
      { none } = axis,
      inputs =
        column.kind === "words"
          ? column.words
              .slice(0, 40)
              .map(
                (word, i) =>
                  `<label><input type="checkbox" data-word="${i}"${
                    !brush || (brush.words && holds(brush, i)) ? " checked" : ""
                  }> <bdi>${escape(word)}</bdi></label>`,
              )
              .join("")
          : `<label>from <input type="text" inputmode="decimal" data-low value="${end(brush?.low)}" ` +
            `placeholder="${column.low}"></label> <label>to <input type="text" inputmode="decimal" data-high ` +
            `value="${end(brush?.high)}" placeholder="${column.high}"></label>`;
    this.form.innerHTML =
      `<form role="dialog" aria-label="Range of ${escape(column.name)}"><b><bdi>${escape(column.name)}</bdi></b>` +
      `<div class="fields">${inputs}${
        none ? `<label><input type="checkbox" data-none${brush?.none ? " checked" : ""}> without a number</label>` : ""
      }</div><div class="acts"><button>apply</button><button type="button" data-do="all">all</button>` +
      `<button type="button" data-do="left" aria-label="move the axis to the left">←</button>` +
      `<button type="button" data-do="right" aria-label="move the axis to the right">→</button>` +
      `<button type="button" data-do="colour">colour by it</button>` +
      `<button type="button" data-do="away">take away</button>` +
      `<button type="button" data-do="close">close</button></div></form>`;
    this.form.hidden = false;
    this.form.style.left = `${Math.max(0, Math.min(axis.x - 120, this.width - 330))}px`;
    const form = this.form.firstChild,
      close = () => {
        this.form.hidden = true;
        [...this.heads.children].find((b) => b.dataset.key === key)?.focus();
      };
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.store.brush([key, this.read(form, column)]);
      close();
    });
    form.addEventListener("keydown", (e) => {
      e.stopPropagation();
      if (e.key === "Escape") close();
    });
    form.addEventListener("click", (e) => {
      const act = e.target.dataset.do,
        keys = this.app.axes,
        k = keys.indexOf(key);
      if (!act) return;
      if (act === "all") this.store.brush([key, null]);
      else if (act === "colour") this.app.setColour(key);
      else if (act === "away") this.app.setAxes(keys.filter((one) => one !== key));
      else if (act !== "close") {
        const to = Math.max(0, Math.min(keys.length - 1, k + (act === "left" ? -1 : 1)));
        this.app.setAxes(
          put(
            keys.filter((one) => one !== key),
            to,
            key,
          ),
        );
      }
      close();
    });
    form.querySelector("input, button").focus();
  }
  read(form, column) {
    if (form.querySelector("[data-none]")?.checked) return { none: true };
    if (column.kind === "words") {
      const boxes = [...form.querySelectorAll("[data-word]")],
        words = new Set(boxes.filter((box) => box.checked).map((box) => +box.dataset.word));
      return words.size === boxes.length ? null : { words };
    }
    const value = (name, other) => {
        const text = form.querySelector(name).value.trim().replace("−", "-");
        return text === "" || Number.isNaN(Number(text)) ? other : Number(text);
      },
      low = value("[data-low]", -Infinity),
      high = value("[data-high]", Infinity);
    return low === -Infinity && high === Infinity ? null : { low, high };
  }
}
