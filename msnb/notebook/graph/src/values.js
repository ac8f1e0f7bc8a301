// Values of the selected node: queried from the kernel, or taken from the previews that were saved with the view.
import css from "./values.css";
import { escape } from "../../src/escape.js";

const MOST = 100, // answers that stay
  WIDTH = 240, // pixels of a histogram or a line
  HEIGHT = 48,
  BASE64 = /^[A-Za-z0-9+/=]*$/;

export class Values {
  constructor(app) {
    this.app = app;
    this.answers = new Map();
    this.tab = "output";
    this.sample = 0;
    app.root.insertAdjacentHTML("afterbegin", `<style>${css}</style>`);
    app.root
      .querySelector(".body")
      .insertAdjacentHTML(
        "beforebegin",
        `<div class="steps" hidden><label>step <input type="range" aria-label="step of the training"></label> ` +
          `<output></output></div>`,
      );
    this.slider = app.root.querySelector(".steps input");
    app.on(this.slider, "input", () => this.selectStep(+this.slider.value));
    app.on(app.panel, "click", (e) => this.selectTab(e.target.closest("[data-value]")));
    app.on(app.panel, "change", (e) => this.selectSample(e.target.closest(".values input")));
    for (const name of ["valued", "steps", "step"]) app.host.on(name, () => this.renew());
    this.offerSteps();
  }
  get steps() {
    return this.app.host.get("steps") || [];
  }
  get step() {
    return this.app.host.get("step") || 0;
  }
  renew() {
    if (!this.app.host.get("valued")) this.answers.clear();
    this.offerSteps();
    if (this.app.active) this.app.details(true);
  }
  offerSteps() {
    const { steps, slider } = this,
      bar = slider.closest(".steps");
    bar.hidden = steps.length < 2;
    if (bar.hidden) return;
    slider.max = steps.length - 1;
    slider.value = Math.max(0, steps.indexOf(this.step));
    bar.querySelector("output").textContent = `${this.step} of ${steps[0]} to ${steps.at(-1)}`;
  }
  selectStep(index) {
    this.app.host.set("step", this.steps[index]);
    this.offerSteps();
    this.app.details(true);
  }
  selectTab(button) {
    if (!button) return;
    this.tab = button.dataset.value;
    this.draw();
    this.app.panel.querySelector(`[data-value="${CSS.escape(this.tab)}"]`)?.focus();
  }
  selectSample(input) {
    if (!input) return;
    this.sample = Math.max(0, Math.floor(+input.value) || 0);
    this.draw();
  }
  key(id) {
    return `${id}/${this.step}/${this.sample}`;
  }
  // Returns the data of a node, null while the kernel computes it, undefined if there is none.
  dataOf(id) {
    const { host, data } = this.app,
      answer = this.answers.get(this.key(id));
    if (answer !== undefined) return answer;
    if (!host.live || !host.ask) {
      const saved = data?.previews?.[id];
      return saved && { values: saved.values };
    }
    this.answers.set(this.key(id), null);
    host.ask("value", { node: id, sample: this.sample, step: this.step });
    return null;
  }
  receive(message) {
    const key = `${message.node}/${message.step}/${message.sample}`;
    this.answers.delete(key);
    this.answers.set(key, message);
    if (this.answers.size > MOST) this.answers.delete(this.answers.keys().next().value);
    this.draw();
  }
  // Draw the values of the selected node into the panel.
  draw() {
    const { app } = this,
      { panel, stage } = app,
      id = app.active?.selected ?? -1;
    panel.querySelector(".values")?.remove();
    const valued = app.host.live ? app.host.get("valued") : app.data?.valued;
    if (id < 0 || !stage || stage.isArgument(id) || stage.isScope(id) || valued !== stage.name) return;
    const answer = this.dataOf(stage.ids ? stage.ids[id] : id);
    if (answer === undefined) return;
    const section = document.createElement("section");
    section.className = "values";
    section.setAttribute("aria-label", "values");
    section.innerHTML = `<h4>Values</h4>${answer ? this.body(answer) : `<p class="kind">computing…</p>`}`;
    const before = panel.querySelector("h4");
    if (before) before.before(section);
    else panel.append(section);
    app.links();
  }
  body({ values = [], problem }) {
    if (problem) return `<p class="bad">${escape(problem)}</p>`;
    if (!values.length) return `<p class="kind">This node has no values.</p>`;
    const kind = (title) => title.split(" ")[0],
      shown =
        values.find((v) => v.title === this.tab) || values.find((v) => kind(v.title) === kind(this.tab)) || values[0];
    const tabs = values
      .map(
        (v) =>
          `<button class="tab" data-value="${escape(v.title)}" aria-pressed="${v === shown}">` +
          `${escape(v.title)}</button>`,
      )
      .join("");
    return `<div class="tabs">${tabs}</div>${this.one(shown)}`;
  }
  one(value) {
    const many = value.samples > 1 && this.app.host.live;
    return (
      `<p class="kind">${escape(value.type)}${value.size ? `, ${escape(value.size)}` : ""}` +
      `${value.rounds === undefined ? "" : `, last of ${value.rounds} rounds`}</p>` +
      (value.note ? `<p class="kind">${escape(value.note)}</p>` : "") +
      (value.number ? `<p class="number">${escape(value.number)}</p>` : "") +
      (many
        ? `<label class="sample">example <input type="number" min="0" max="${value.samples - 1}" ` +
          `value="${Math.min(this.sample, value.samples - 1)}"> of ${value.samples}</label>`
        : "") +
      pictures(value.pictures) +
      statistics(value.stats) +
      histogram(value.histogram) +
      table(value.table)
    );
  }
}

const statistics = (rows) =>
  rows?.length
    ? `<table>${rows.map(([k, v]) => `<tr><td>${escape(k)}</td><td>${escape(v)}</td></tr>`).join("")}</table>`
    : "";

const source = (text) => `data:image/png;base64,${BASE64.test(text) ? text : ""}`;

function pictures(shown) {
  if (!shown) return "";
  if (shown.kind === "line") return line(shown.points);
  const images = shown.images.map(
    (text, i) =>
      `<figure><img src="${source(text)}" alt="${escape(shown.names[i])}" title="${escape(shown.names[i])}">` +
      `<figcaption>${escape(shown.names[i])}</figcaption></figure>`,
  );
  const more = shown.count > images.length ? `, the ${images.length} of ${shown.count} with the largest mean` : "",
    scale = shown.top ? `<p class="kind">orange to ${escape(shown.top)}, blue to −${escape(shown.top)}${more}</p>` : "",
    axis = (tokens) => tokens.map((token) => `<li>${escape(token)}</li>`).join("");
  return (
    `<div class="maps ${shown.kind === "attention" ? "attention" : shown.kind === "image" ? "image" : ""}">` +
    `${images.join("")}</div>${shown.kind === "image" ? "" : scale}` +
    (shown.tokens ? `<p class="kind">rows attend to columns</p><ol class="tokens">${axis(shown.tokens)}</ol>` : "")
  );
}

function line(points) {
  const real = points.filter((p) => p !== null);
  if (real.length < 2) return "";
  const low = Math.min(...real),
    high = Math.max(...real),
    x = (i) => ((i * WIDTH) / (points.length - 1)).toFixed(1),
    y = (p) => (HEIGHT - (HEIGHT * (p - low)) / (high - low || 1)).toFixed(1),
    path = points.map((p, i) => (p === null ? "" : `${x(i)},${y(p)}`)).join(" ");
  return (
    `<svg class="chart" viewBox="-2 -2 ${WIDTH + 4} ${HEIGHT + 4}" role="img" aria-label="values in order">` +
    `<polyline points="${path}" fill="none" stroke="var(--accent, #0072b2)"/></svg>`
  );
}

function histogram(shown) {
  if (!shown) return "";
  const top = Math.max(...shown.counts),
    step = WIDTH / shown.counts.length;
  const bars = shown.counts.map((count, i) => {
    const tall = count ? Math.max(1, (HEIGHT * count) / top) : 0;
    const [x, y, wide, high] = [i * step, HEIGHT - tall, step - 0.6, tall].map((size) => size.toFixed(1));
    return `<rect x="${x}" y="${y}" width="${wide}" height="${high}"/>`;
  });
  return (
    `<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="histogram">${bars.join("")}</svg>` +
    `<div class="ends"><span>${escape(shown.low)}</span><span>${escape(shown.high)}</span></div>`
  );
}

function table(shown) {
  if (!shown) return "";
  const { cells, rows, columns, lead, flat } = shown,
    wider = columns > cells[0]?.length,
    head = cells[0]?.map((_, i) => `<th scope="col">${i}</th>`).join("") || "",
    lines = cells.map(
      (row, i) =>
        `<tr>${flat ? "" : `<th scope="row">${i}</th>`}${row.map((v) => `<td>${escape(v)}</td>`).join("")}` +
        `${wider ? "<td>…</td>" : ""}</tr>`,
    );
  return (
    `<details><summary>numbers${lead ? ` [${"0, ".repeat(lead)}:, :]` : ""}</summary>` +
    `<div class="numbers" tabindex="0"><table><tr>${flat ? "" : "<th></th>"}${head}</tr>${lines.join("")}` +
    `${rows > cells.length ? `<tr><td>…</td></tr>` : ""}</table></div></details>`
  );
}
