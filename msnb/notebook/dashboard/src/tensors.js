// The tab of tensors: a slice of each in numpy notation ("2:5, :"), as a table or as histograms of all steps.
import { escape } from "../../src/escape.js";
import { ellipsize } from "../../src/ellipsize.js";
import { counted, filterField } from "./filter.js";
import { show, whole } from "./format.js";
import { binned, fields, ridges, told } from "./ridges.js";

const ROWS = 60,
  COLUMNS = 24;

export class Tensors {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.state = new Map(); // key -> {at, slice}
    this.form = "table";
    this.figures = new Map(); // what is drawn on a canvas
    const tools = fields(this.form, app.axis, { table: "table" });
    panel.innerHTML =
      `<div class="tools">${filterField(app)}${tools}<span class="soft count" role="status"></span></div>` +
      `<div class="tensors"></div>`;
    this.box = panel.lastElementChild;
    panel.oninput = (event) => this.set(event.target);
    this.fill();
  }
  close() {}

  set(field) {
    const { app } = this;
    if (field.dataset.set === "axis") {
      app.setAxis(field.value);
      return app.redrawAll();
    }
    if (field.dataset.set === "filter") {
      app.filter = field.value;
      return this.fill();
    }
    if (field.dataset.set === "form") {
      this.form = field.value;
      return this.fill();
    }
    const figure = field.closest("figure"),
      state = figure && this.state.get(figure.dataset.key);
    if (!state) return;
    if (field.type === "range") state.at = +field.value;
    else state.slice = field.value;
    this.show(figure);
  }

  fill() {
    const { app } = this,
      { box } = this,
      there = new Map([...box.children].map((figure) => [figure.dataset.key, figure]));
    const { shown, all } = app.valuesOf("tensors");
    this.panel.querySelector(".count").textContent = counted(app, shown.length, all, "tensor");
    box.replaceChildren(
      ...shown.map(([key, one]) => {
        let figure = there.get(key);
        if (!figure) {
          figure = document.createElement("figure");
          figure.dataset.key = key;
          figure.className = "tensor";
          this.state.set(key, { at: null, slice: firstSlice(one.items.at(-1)[2]) });
          figure.innerHTML =
            `<figcaption><b title="${escape(one.tag)}">${escape(ellipsize(one.tag, 80))}</b>${app.named(one.run)}` +
            `</figcaption><div class="tools">` +
            `<label>step <input type="range" min="0" step="1" aria-label="step of ${escape(one.tag)}"> ` +
            `<output></output></label>` +
            `<label>part <input type="text" value="${escape(this.state.get(key).slice)}" ` +
            `aria-label="part of ${escape(one.tag)}, as in 2:5, :"></label></div>` +
            `<p class="soft about" role="status"></p><div class="scroll" tabindex="0" role="region"></div>` +
            `<div class="plot" hidden><canvas role="img"></canvas><div class="read" hidden></div></div>`;
          const plot = figure.querySelector(".plot");
          plot.addEventListener("pointermove", (event) => this.read(key, event));
          plot.addEventListener("pointerleave", () => (plot.lastChild.hidden = true));
          this.figures.set(key, { figure, visible: true, draw: () => this.draw(key) });
        }
        this.show(figure, one);
        return figure;
      }),
    );
  }

  show(figure, one = this.app.tensors.get(figure.dataset.key)) {
    const state = this.state.get(figure.dataset.key),
      at = Math.min(state.at ?? one.items.length - 1, one.items.length - 1),
      [step, , shape, dtype, values] = one.items[at],
      slider = figure.querySelector("input[type=range]"),
      about = figure.querySelector(".about"),
      box = figure.querySelector(".scroll"),
      plot = figure.querySelector(".plot");
    slider.max = one.items.length - 1;
    slider.value = at;
    slider.disabled = one.items.length < 2;
    slider.setAttribute("aria-valuetext", `step ${step}`);
    figure.querySelector("output").textContent = whole(step);
    box.setAttribute("aria-label", `values of ${one.tag}`);
    const what = `${dtype}[${shape.join(", ")}]`;
    if (!values) {
      about.textContent = `${what}: too many values to be kept in this view.`;
      box.replaceChildren();
      plot.hidden = true;
      if (this.app.host.ask) this.more(figure, one, at);
      return;
    }
    let part;
    const drawn = this.form !== "table";
    try {
      part = sliced(values, shape, state.slice);
      if (!drawn && part.axes.length > 2) throw new Error("a table has two axes; choose an index for the others");
    } catch (problem) {
      about.textContent = `${what}: ${problem.message}`;
      return;
    }
    about.textContent = `${what} · ${said(part.values)}`;
    box.hidden = drawn;
    plot.hidden = !drawn;
    if (drawn) this.app.redraw(this.figures.get(figure.dataset.key));
    else box.innerHTML = table(part);
  }

  // Draw the slice of each step that has one and whose values have arrived.
  draw(key) {
    const { app } = this,
      drawn = this.figures.get(key),
      one = app.tensors.get(key),
      canvas = drawn.figure.querySelector("canvas"),
      rows = one.items.flatMap(([step, seconds, shape, , values]) => {
        try {
          return values ? [[step, seconds, sliced(values, shape, this.state.get(key).slice).values]] : [];
        } catch {
          return [];
        }
      }),
      [steps, times, arrays] = [0, 1, 2].map((column) => rows.map((row) => row[column]));
    if (this.form === "table" || !rows.length) return;
    drawn.one = binned(arrays, steps, times);
    drawn.under =
      drawn.one &&
      ridges(canvas, drawn.one, {
        form: this.form,
        axis: app.axis,
        began: app.runs[one.run].started ?? 0,
        colour: app.colour(one.run),
        paint: app.paint,
      });
    canvas.setAttribute("aria-label", `histograms of ${one.tag} in ${steps.length} steps`);
  }
  read(key, event) {
    const { figure, one, under } = this.figures.get(key),
      box = figure.querySelector("canvas").getBoundingClientRect(),
      read = figure.querySelector(".read");
    read.hidden = !under;
    if (under) read.innerHTML = told(one, under(event.clientX - box.left, event.clientY - box.top));
  }

  more(figure, one, at) {
    this.app.ask({ tensor: [one.run, one.tag, one.items[at][0]] }, (found) => {
      one.items[at][4] = found;
      if (figure.isConnected) this.show(figure, one);
    });
    figure.querySelector(".about").textContent += " Asking the kernel for them.";
  }
}

const firstSlice = (shape) => shape.map((_, i) => (i < shape.length - 2 ? "0" : ":")).join(", ");

// The slice of a tensor that a text such as "2:5, :, -1" selects: {values, axes: indices along each remaining axis}
export function sliced(values, shape, text) {
  const parts = text.trim() === "" ? [] : text.split(",").map((one) => one.trim());
  if (parts.length > shape.length) throw new Error(`it has ${shape.length} axes, the part names ${parts.length}`);
  const chosen = shape.map((long, axis) => indices(parts[axis] ?? ":", long, axis));
  let places = [0];
  chosen.forEach(({ list }, axis) => {
    places = places.flatMap((place) => list.map((i) => place * shape[axis] + i));
  });
  return {
    values: Float64Array.from(places, (place) => values[place]),
    axes: chosen.filter((one) => !one.single).map((one) => one.list),
  };
}

function indices(text, long, axis) {
  const single = text.match(/^-?\d+$/);
  if (single) {
    const at = +text < 0 ? +text + long : +text;
    if (at < 0 || at >= long) throw new Error(`axis ${axis} has ${long} places, and none is ${text}`);
    return { list: [at], single: true };
  }
  const range = text.match(/^(-?\d*):(-?\d*)(?::(\d+))?$/);
  if (!range || range[3] === "0") throw new Error(`"${text}" is no part of an axis; write 3, 2:5 or :`);
  const end = (value, otherwise) =>
      value === "" ? otherwise : Math.max(0, Math.min(long, +value < 0 ? +value + long : +value)),
    list = [];
  for (let i = end(range[1], 0); i < end(range[2], long); i += +(range[3] ?? 1)) list.push(i);
  return { list, single: false };
}

function said(values) {
  let low = Infinity,
    high = -Infinity,
    sum = 0,
    squares = 0,
    n = 0,
    zeros = 0;
  for (const v of values) {
    if (!Number.isFinite(v)) continue;
    n += 1;
    sum += v;
    squares += v * v;
    zeros += v === 0;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  const bad = values.length - n;
  if (!values.length) return "no values";
  const many = `${whole(values.length)} value${values.length === 1 ? "" : "s"}`;
  if (!n) return `${many}, none finite`;
  const mean = sum / n,
    spread = Math.sqrt(Math.max(0, squares / n - mean * mean));
  return (
    `${many} from ${show(low)} to ${show(high)}, mean ${show(mean)}, deviation ${show(spread)}` +
    (zeros ? `, ${whole(zeros)} zero` : "") +
    (bad ? `, ${whole(bad)} NaN or infinite` : "")
  );
}

function table({ values, axes }) {
  const columns = axes.at(-1) ?? [0],
    rows = axes.length > 1 ? axes[0] : [0],
    r = rows.slice(0, ROWS),
    c = columns.slice(0, COLUMNS),
    more = rows.length > r.length || columns.length > c.length,
    shown = `${r.length} of ${rows.length} rows, ${c.length} of ${columns.length} columns`;
  return (
    `<table><thead><tr><th><span class="unseen">row</span></th>` +
    `${c.map((i) => `<th scope="col">${i}</th>`).join("")}</tr></thead><tbody>` +
    r
      .map(
        (row, i) =>
          `<tr><th scope="row">${row}</th>${c
            .map((_, j) => {
              const v = values[i * columns.length + j];
              return `<td${Number.isFinite(v) ? "" : ' class="bad"'}>${show(v)}</td>`;
            })
            .join("")}</tr>`,
      )
      .join("") +
    `</tbody></table>${more ? `<p class="soft">${shown}; choose a smaller part to see others.</p>` : ""}`
  );
}
