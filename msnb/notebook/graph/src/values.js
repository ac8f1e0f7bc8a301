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
    this.round = null; // iteration of each loop around the node; null is the last
    this.order = "energy"; // of feature maps
    this.part = ""; // slice of the table
    this.head = 0; // of attention
    this.channel = -1; // whose examples are compared
    this.numbers = { step: null, rows: null }; // under the pointer
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
    app.body.insertAdjacentHTML("beforeend", `<output class="hovered" hidden></output>`);
    this.hovered = app.root.querySelector(".hovered");
    app.on(app.panel, "click", (e) => this.click(e.target));
    app.on(app.panel, "change", (e) => this.change(e.target));
    app.on(app.panel, "keydown", (e) => this.press(e));
    app.on(app.panel, "pointermove", (e) => this.point(e));
    app.on(app.body, "pointermove", () => this.hover());
    app.on(app.body, "pointerleave", () => this.hover());
    // All views of the page show the same example of the batch.
    app.on(window, "msnb:sample", (e) => this.follow(e.detail));
    for (const name of ["valued", "steps", "step"]) app.host.on(name, () => this.renew());
    app.host.on("runs", () => {
      this.answers.clear();
      this.renew();
    });
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
    this.numbers = { step: null, rows: null };
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
  click(target) {
    const button = target.closest("button"),
      { head, channel, sample, order, save } = button?.dataset || {};
    if (target.closest("[data-value]")) this.selectTab(target.closest("[data-value]"));
    else if (head !== undefined) this.head = +head;
    else if (channel !== undefined) this.compare(+channel);
    else if (sample !== undefined) return this.selectSample(+sample);
    else if (order !== undefined) this.order = order;
    else if (save === "npy") return this.saveNumbers();
    else if (save === "png") return this.savePicture();
    else return;
    this.draw();
  }
  change(input) {
    if (!input.closest(".values")) return;
    const { loop } = input.dataset;
    if (loop !== undefined) {
      const inputs = [...input.closest(".rounds").querySelectorAll("[data-loop]")];
      this.round = inputs.map((one) => Math.max(0, Math.floor(+one.value) || 0));
      this.draw();
    } else if (input.matches(".part")) {
      this.part = input.value;
      this.openNumbers = true;
      this.draw();
    } else if (input.matches(".sample input")) this.selectSample(Math.max(0, Math.floor(+input.value) || 0));
  }
  // Keys typed here must not reach the notebook's shortcuts.
  press(e) {
    if (e.target.matches(".values input")) e.stopPropagation();
  }
  selectSample(index) {
    if (index === this.sample) return;
    this.sample = index;
    this.draw();
    if (this.app.host.live) window.dispatchEvent(new CustomEvent("msnb:sample", { detail: index }));
  }
  follow(index) {
    if (!this.app.host.live || index === this.sample || !Number.isInteger(index)) return;
    this.sample = index;
    this.draw();
  }
  // ---- three numbers under the pointer
  hover() {
    const { app } = this,
      pane = app.panes.find((one) => one.hovered >= 0),
      valued = app.host.live ? app.host.get("valued") : app.data?.valued;
    const { stage } = pane || {},
      id = stage && valued === stage.name && pane.hovered < stage.total ? pane.hovered : -1,
      text = id < 0 || stage.isScope(id) || stage.isArgument(id) ? "" : this.three(stage.ids ? stage.ids[id] : id);
    this.hovered.hidden = !text;
    this.hovered.textContent = text && `${stage.title(id)}: ${text}`;
  }
  three(id) {
    const { host, data } = this.app;
    if (!host.live || !host.ask) {
      const stats = new Map(data?.previews?.[id]?.values[0]?.stats || []);
      return stats.size
        ? words([stats.get("mean |x|") ?? stats.get("abs mean"), stats.get("min"), stats.get("max")])
        : "";
    }
    if (this.numbers.step !== this.step) {
      this.numbers = { step: this.step, rows: null };
      host.ask("hover");
    }
    const row = this.numbers.rows?.[id];
    return row ? words(row) : "";
  }
  receiveNumbers({ step, rows }) {
    if (step !== this.step) return;
    this.numbers = { step, rows };
    this.hover();
  }
  // ---- examples with the largest activation of a channel
  compare(channel) {
    this.channel = this.channel === channel ? -1 : channel;
    this.examples = null;
    if (this.channel >= 0) this.app.host.ask?.("excite", { node: this.selectedId(), channel });
  }
  receiveExamples(message) {
    if (message.channel !== this.channel || message.node !== this.selectedId()) return;
    this.examples = message.examples;
    this.draw();
  }
  selectedId() {
    const { stage, active } = this.app,
      id = active?.selected ?? -1;
    return stage?.ids ? stage.ids[id] : id;
  }
  // ---- files
  saveNumbers() {
    this.app.host.ask?.("file", { node: this.selectedId(), title: this.shown?.title || "output", round: this.round });
  }
  receiveFile({ name, problem }, buffers) {
    if (problem || !buffers?.length) this.app.tell(problem || "There is no such value.");
    else download(new Blob([buffers[0]]), name);
  }
  async savePicture() {
    const images = [...this.app.panel.querySelectorAll(".values .maps img")],
      width = Math.max(...images.map((one) => one.naturalWidth)) * 4 + 4,
      height = Math.max(...images.map((one) => one.naturalHeight)) * 4 + 4,
      columns = Math.ceil(Math.sqrt(images.length)),
      canvas = document.createElement("canvas");
    canvas.width = columns * width;
    canvas.height = Math.ceil(images.length / columns) * height;
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = false;
    images.forEach((one, i) => {
      const at = [(i % columns) * width, Math.floor(i / columns) * height];
      context.drawImage(one, ...at, one.naturalWidth * 4, one.naturalHeight * 4);
    });
    canvas.toBlob((blob) => download(blob, `values-${this.selectedId()}.png`));
  }
  key(id) {
    const { step, sample, round, order, part } = this;
    return JSON.stringify([id, step, sample, round, order, part]);
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
    const { sample, step, round, order, part } = this;
    host.ask("value", { node: id, sample, step, round, order, part, key: this.key(id) });
    return null;
  }
  receive(message) {
    const { key } = message;
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
    if (id !== this.selected) {
      // Another node has other loops, axes and channels.
      [this.selected, this.round, this.part, this.channel, this.examples] = [id, null, "", -1, null];
    }
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
    this.shown = shown;
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
    const { live } = this.app.host,
      many = value.samples > 1 && live;
    return (
      `<p class="kind">${escape(value.type)}${value.size ? `, ${escape(value.size)}` : ""}` +
      `</p>${rounds(value, live)}` +
      (value.note ? `<p class="kind">${escape(value.note)}</p>` : "") +
      (value.number ? `<p class="number">${escape(value.number)}</p>` : "") +
      (many
        ? `<label class="sample">example <input type="number" min="0" max="${value.samples - 1}" ` +
          `value="${Math.min(this.sample, value.samples - 1)}"> of ${value.samples}</label>`
        : "") +
      this.pictures(value.pictures, value.title) +
      statistics(value.stats) +
      histogram(value.histogram) +
      this.table(value.table) +
      this.files(value)
    );
  }
  files(value) {
    const buttons = [];
    if (this.app.host.live && value.stats) buttons.push(`<button class="link" data-save="npy">save .npy</button>`);
    if (value.pictures?.images) buttons.push(`<button class="link" data-save="png">save .png</button>`);
    return buttons.length ? `<p class="files">${buttons.join(" ")}</p>` : "";
  }
  pictures(shown, title) {
    if (!shown) return "";
    if (shown.kind === "line") return line(shown.points);
    if (shown.kind === "attention") return this.attention(shown);
    const { live } = this.app.host,
      compares = live && title === "output" && shown.channels;
    const images = shown.images.map((text, i) =>
      compares
        ? `<button class="choice" data-channel="${+shown.channels[i]}" ` +
          `aria-pressed="${shown.channels[i] === this.channel}" ` +
          `title="examples that excite this channel">${figure(text, shown.names[i])}</button>`
        : figure(text, shown.names[i]),
    );
    const more = shown.count > images.length ? `, ${images.length} of ${shown.count}` : "",
      signed = shown.kind === "maps" && shown.top,
      scale = signed ? `<p class="kind">orange to ${escape(shown.top)}, blue to −${escape(shown.top)}${more}</p>` : "",
      orders = shown.channels && live ? ["energy", "index"] : [],
      sorts = orders
        .map((o) => `<button class="tab" data-order="${o}" aria-pressed="${shown.order === o}">${o}</button>`)
        .join("");
    return (
      (sorts ? `<div class="tabs">sorted by ${sorts}</div>` : "") +
      `<div class="maps ${escape(shown.kind)}">${images.join("")}</div>${scale}${compares ? this.excited() : ""}`
    );
  }
  excited() {
    if (this.channel < 0) return `<p class="kind">A click on a channel shows the examples that excite it.</p>`;
    if (!this.examples) return `<p class="kind">computing…</p>`;
    const side = (most) =>
      this.examples
        .filter((one) => one.most === most)
        .map(
          (one) =>
            `<button class="choice" data-sample="${+one.sample}" aria-pressed="${+one.sample === this.sample}">` +
            `${figure(one.image, `${+one.sample}: ${one.value}`)}</button>`,
        )
        .join("");
    return (
      `<p class="kind">channel ${this.channel} is excited most by the examples</p>` +
      `<div class="maps excited">${side(true)}</div><p class="kind">and least by</p>` +
      `<div class="maps excited">${side(false)}</div>`
    );
  }
  // One large head with its tokens; the small ones select another head.
  attention(shown) {
    const head = Math.min(this.head, shown.images.length - 1),
      name = (i) => shown.names[i],
      [rows, columns] = shown.tokens || [[], []];
    const small = shown.images.map(
      (text, i) =>
        `<button class="choice" data-head="${i}" aria-pressed="${i === head}">${figure(text, name(i))}</button>`,
    );
    const list = (tokens) => tokens.map((token) => `<li title="${escape(token)}">${escape(token)}</li>`).join("");
    this.weights = shown.weights?.[head];
    this.tokens = shown.tokens;
    return (
      `<div class="maps attention">${small.length > 1 ? small.join("") : ""}</div>` +
      `<div class="attended ${shown.tokens ? "" : "bare"}" style="--rows:${rows.length};--columns:${columns.length}">` +
      `<ol class="columns">${list(columns)}</ol><ol class="rows">${list(rows)}</ol>` +
      `<img src="${source(shown.images[head])}" alt="weights of ${escape(name(head))}"></div>` +
      `<p class="kind pointed">${escape(name(head))}: a row attends to the columns</p>`
    );
  }
  // the weight under the pointer
  point(e) {
    const image = e.target.closest(".attended img"),
      told = this.app.panel.querySelector(".pointed");
    if (!image || !told || !this.weights) return;
    const box = image.getBoundingClientRect(),
      at = (part, size, n) => Math.min(n - 1, Math.max(0, Math.floor((part / size) * n))),
      row = at(e.clientY - box.top, box.height, this.weights.length),
      column = at(e.clientX - box.left, box.width, this.weights[0].length),
      [rows, columns] = this.tokens || [];
    told.textContent = `${rows?.[row] ?? row} → ${columns?.[column] ?? column}: ${this.weights[row][column]} %`;
  }
  table(shown) {
    if (!shown) return "";
    const { live } = this.app.host,
      open = this.openNumbers ? " open" : "",
      picked = live && this.shown?.title === "output",
      label = shown.part || (shown.flat ? "" : `${"0, ".repeat(shown.lead || 0)}:, :`),
      part = picked
        ? `<label class="kind">slice <input class="part" aria-label="slice" placeholder="${escape(label)}" ` +
          `value="${escape(this.part)}"></label>`
        : "";
    return (
      `<details${open}><summary>numbers${label ? ` [${escape(label)}]` : ""}</summary>${part}` +
      (shown.problem ? `<p class="bad">${escape(shown.problem)}</p>` : cells(shown)) +
      `</details>`
    );
  }
}

const words = ([mean, low, high]) => `mean |x| ${mean}, min ${low}, max ${high}`;

const figure = (text, name) =>
  `<figure><img src="${source(text)}" alt="${escape(name)}" title="${escape(name)}">` +
  `<figcaption>${escape(name)}</figcaption></figure>`;

// One number for each loop around the node, from the outermost.
function rounds({ iterations, round }, live) {
  if (!iterations?.length) return "";
  const last = (i) => round?.[i] ?? Math.max(0, iterations[i] - 1);
  if (!live) return `<p class="kind">round ${iterations.map((n, i) => `${last(i)} of ${+n}`).join(", ")}</p>`;
  return `<div class="rounds">${iterations
    .map(
      (n, i) =>
        `<label>${iterations.length > 1 ? `loop ${i + 1}: ` : ""}round <input type="number" data-loop="${i}" min="0" ` +
        `max="${+n - 1}" value="${last(i)}"> of ${+n}</label>`,
    )
    .join(" ")}</div>`;
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const statistics = (rows) =>
  rows?.length
    ? `<table>${rows.map(([k, v]) => `<tr><td>${escape(k)}</td><td>${escape(v)}</td></tr>`).join("")}</table>`
    : "";

const source = (text) => `data:image/png;base64,${BASE64.test(text) ? text : ""}`;

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

function cells({ cells: table, rows, columns, flat }) {
  const wider = columns > table[0]?.length,
    head = table[0]?.map((_, i) => `<th scope="col">${i}</th>`).join("") || "",
    lines = table.map(
      (row, i) =>
        `<tr>${flat ? "" : `<th scope="row">${i}</th>`}${row.map((v) => `<td>${escape(v)}</td>`).join("")}` +
        `${wider ? "<td>…</td>" : ""}</tr>`,
    );
  return (
    `<div class="numbers" tabindex="0"><table><tr>${flat ? "" : "<th></th>"}${head}</tr>${lines.join("")}` +
    `${rows > table.length ? `<tr><td>…</td></tr>` : ""}</table></div>`
  );
}
