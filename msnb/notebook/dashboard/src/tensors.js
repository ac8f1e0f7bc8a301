// The tab of tensors: a part of each as a table, chosen as numpy writes it ("2:5, :"), with its statistics.
import { escape } from "../../src/escape.js";
import { show, whole } from "./format.js";

const ROWS = 60,
  COLUMNS = 24;

export class Tensors {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.state = new Map(); // key -> {at, slice}
    panel.innerHTML = `<div class="tensors"></div>`;
    panel.oninput = (event) => this.set(event.target);
    this.fill();
  }
  close() {}

  set(field) {
    const figure = field.closest("figure"),
      state = figure && this.state.get(figure.dataset.key);
    if (!state) return;
    if (field.type === "range") state.at = +field.value;
    else state.slice = field.value;
    this.show(figure);
  }

  fill() {
    const { app } = this,
      box = this.panel.firstElementChild,
      there = new Map([...box.children].map((figure) => [figure.dataset.key, figure]));
    const shown = [...app.tensors].filter(([, one]) => !app.hidden.has(app.runs[one.run].id));
    box.replaceChildren(
      ...shown.map(([key, one]) => {
        let figure = there.get(key);
        if (!figure) {
          figure = document.createElement("figure");
          figure.dataset.key = key;
          figure.className = "tensor";
          this.state.set(key, { at: null, slice: firstSlice(one.items.at(-1)[2]) });
          figure.innerHTML =
            `<figcaption><b>${escape(one.tag)}</b>${app.named(one.run)}</figcaption><div class="tools">` +
            `<label>step <input type="range" min="0" step="1" aria-label="step of ${escape(one.tag)}"> ` +
            `<output></output></label>` +
            `<label>part <input type="text" value="${escape(this.state.get(key).slice)}" ` +
            `aria-label="part of ${escape(one.tag)}, as in 2:5, :"></label></div>` +
            `<p class="soft about" role="status"></p><div class="scroll" tabindex="0" role="region"></div>`;
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
      box = figure.querySelector(".scroll");
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
      if (this.app.host.ask) this.more(figure, one, at);
      return;
    }
    let part;
    try {
      part = sliced(values, shape, state.slice);
    } catch (problem) {
      about.textContent = `${what}: ${problem.message}`;
      return;
    }
    about.textContent = `${what} · ${said(part.values)}`;
    box.innerHTML = table(part);
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

// The part of a tensor that a text such as "2:5, :, -1" chooses: {values, rows, columns, names of rows and columns}
export function sliced(values, shape, text) {
  const parts = text.trim() === "" ? [] : text.split(",").map((one) => one.trim());
  if (parts.length > shape.length) throw new Error(`it has ${shape.length} axes, the part names ${parts.length}`);
  const chosen = shape.map((long, axis) => indices(parts[axis] ?? ":", long, axis)),
    free = chosen.map((one, axis) => (one.single ? -1 : axis)).filter((axis) => axis >= 0);
  if (free.length > 2) throw new Error("at most two axes can be left; choose an index for the others");
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1)),
    base = chosen.reduce((sum, one, axis) => (one.single ? sum + one.list[0] * strides[axis] : sum), 0),
    [down, across] = free.length === 2 ? free : [undefined, free[0]],
    rows = down === undefined ? [0] : chosen[down].list,
    columns = across === undefined ? [0] : chosen[across].list,
    found = new Float64Array(rows.length * columns.length);
  rows.forEach((row, i) =>
    columns.forEach((column, j) => {
      const place =
        base + (down === undefined ? 0 : row * strides[down]) + (across === undefined ? 0 : column * strides[across]);
      found[i * columns.length + j] = values[place];
    }),
  );
  return { values: found, rows, columns };
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
  if (!n) return `${whole(values.length)} values, none finite`;
  const mean = sum / n,
    spread = Math.sqrt(Math.max(0, squares / n - mean * mean));
  return (
    `${whole(values.length)} values from ${show(low)} to ${show(high)}, mean ${show(mean)}, deviation ${show(spread)}` +
    (zeros ? `, ${whole(zeros)} zero` : "") +
    (bad ? `, ${whole(bad)} NaN or infinite` : "")
  );
}

function table({ values, rows, columns }) {
  const r = rows.slice(0, ROWS),
    c = columns.slice(0, COLUMNS),
    more = rows.length > r.length || columns.length > c.length,
    shown = `${r.length} of ${rows.length} rows, ${c.length} of ${columns.length} columns`;
  return (
    `<table><thead><tr><th><span class="heard">row</span></th>` +
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
