// The tab of pictures: filters and a grid of thumbnails, and below it the chosen sample with the maps of all methods.
import { escape } from "../../src/escape.js";
import { setHtml } from "../../src/set_html.js";
import { Region } from "./region.js";

const MOST = 300; // thumbnails that are drawn at first; more on request
const KINDS = [
  ["TP", "true positive"],
  ["FP", "false positive"],
  ["FN", "false negative"],
  ["TN", "true negative"],
];
const SORTS = [
  ["file", "order of the data"],
  ["high", "confidence, high first"],
  ["low", "confidence, low first"],
];
export const badge = (kind) =>
  kind
    ? `<span class="badge ${kind}" title="${KINDS.find(([key]) => key === kind)[1]}">${kind}</span>`
    : `<span class="badge none" title="no true label">–</span>`;
export const formatProbability = (probability) =>
  probability === null ? "NaN" : probability.toFixed(probability > 0 && probability < 0.001 ? 6 : 3);

export class Images {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.filter = { label: "", kinds: new Set(), sort: "file" };
    this.most = MOST;
    this.asked = new Set(); // samples whose files were asked for
    this.chosenLabel = new Map(); // id of a sample -> label that the reader has chosen
    panel.innerHTML =
      `<div class="tools"><label>label <select data-set="label"></select></label>` +
      `<span class="kinds" role="group" aria-label="show predictions that are">${KINDS.map(
        ([kind, title]) => `<button data-kind="${kind}" aria-pressed="false" title="${title}">${kind}</button>`,
      ).join("")}</span>` +
      `<label>sort <select data-set="sort">${SORTS.map(([key, text]) => `<option value="${key}">${text}</option>`).join(
        "",
      )}</select></label><label>method <select data-set="method"></select></label>` +
      `<label>opacity <input type="range" min="0" max="1" step="0.05" data-set="opacity"></label>` +
      `<span class="soft hits" role="status"></span></div>` +
      `<div class="grid" role="listbox" aria-label="samples"></div>` +
      `<button class="more" data-do="more" hidden></button><div class="detail" role="group"></div>`;
    this.grid = panel.querySelector(".grid");
    this.detail = panel.querySelector(".detail");
    this.region = new Region(app);
    this.seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) this.fill(target);
    });
    panel.addEventListener("input", ({ target }) => target.dataset.set && this.set(target.dataset.set, target.value));
    panel.addEventListener("click", ({ target }) => this.click(target));
    this.grid.addEventListener("focusin", ({ target }) => {
      const cell = target.closest("[data-id]");
      if (cell && +cell.dataset.id !== this.id) this.choose(+cell.dataset.id);
    });
  }
  close() {
    this.seen.disconnect();
  }

  // ---------------------------------------------------------------- input
  set(name, value) {
    const { app } = this;
    if (name === "opacity") {
      app.state.opacity = +value;
      this.panel.style.setProperty("--opacity", app.state.opacity);
      this.panel.querySelector("[data-set=opacity]").setAttribute("aria-valuetext", `${Math.round(100 * value)} %`);
      return;
    }
    if (name === "method") app.state.method = value;
    else this.filter[name] = value;
    this.draw();
  }
  click(target) {
    const kind = target.closest("[data-kind]")?.dataset.kind,
      cell = target.closest(".grid [data-id]"),
      label = target.closest("[data-label]");
    if (kind) {
      if (!this.filter.kinds.delete(kind)) this.filter.kinds.add(kind);
      this.draw();
    } else if (cell) this.choose(+cell.dataset.id);
    else if (label) {
      this.chosenLabel.set(this.id, +label.dataset.label);
      this.draw();
      this.detail.querySelector(`[data-label="${label.dataset.label}"]`)?.focus();
    } else if (target.closest("[data-do=more]")) {
      this.most += MOST;
      this.draw();
    } else if (target.closest("[data-do=clear]")) {
      this.filter = { ...this.filter, label: "", kinds: new Set() };
      this.draw();
      this.panel.querySelector("[data-set=label]").focus();
    }
  }
  // Handle a key anywhere in the tab but in a field; return true if it has a meaning.
  press(event) {
    const { app } = this,
      { key } = event,
      steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns(), ArrowDown: this.columns() };
    if (event.shiftKey && key in steps) return this.region.move(event);
    if (key in steps && !event.target.closest(".channels")) return this.step(steps[key]);
    if (key === "Enter" && event.target.closest(".stack")) return this.region.press(event);
    if (key === "Home" || key === "End") return this.step(key === "Home" ? -Infinity : Infinity);
    if (key === "f") this.panel.querySelector("[data-set=label]").focus();
    else if (key === "m" && app.data.methods.length) {
      const { methods } = app.data;
      this.set("method", methods[(methods.indexOf(app.state.method) + 1) % methods.length]);
      app.say(app.state.method);
    } else if (key === "+" || key === "=" || key === "-") {
      const opacity = Math.min(1, Math.max(0, app.state.opacity + (key === "-" ? -0.1 : 0.1)));
      this.set("opacity", +opacity.toFixed(2));
      this.panel.querySelector("[data-set=opacity]").value = app.state.opacity;
      app.say(`opacity ${Math.round(100 * app.state.opacity)} %`);
    } else return false;
    return true;
  }
  columns() {
    const cells = [...this.grid.children],
      below = cells.findIndex((cell) => cell.offsetTop > cells[0].offsetTop);
    return below < 0 ? cells.length : below;
  }
  step(by) {
    const ids = this.shown.map(({ id }) => id),
      to = Math.max(0, Math.min(ids.length - 1, Math.max(0, ids.indexOf(this.id)) + by));
    if (ids.length) {
      this.choose(ids[to]);
      this.grid.querySelector('[aria-selected="true"]')?.focus();
    }
    return true;
  }
  choose(id) {
    this.id = id;
    this.region.clear();
    this.mark();
    this.drawDetail();
  }

  // ---------------------------------------------------------------- drawing
  // The label of a sample whose maps are drawn: the reader's choice, the filter's, or the most probable one.
  labelOf(sample) {
    const chosen = this.chosenLabel.get(sample.id) ?? (this.filter.label === "" ? undefined : +this.filter.label);
    return sample.labels.some(({ label }) => label === chosen) ? chosen : sample.labels[0]?.label;
  }
  matches(sample) {
    const { label, kinds } = this.filter;
    return (
      (label === "" && !kinds.size) ||
      sample.labels.some((one) => (label === "" || one.label === +label) && (!kinds.size || kinds.has(one.kind)))
    );
  }
  confidence(sample) {
    const { label, kinds } = this.filter;
    const rows = sample.labels.filter(
      (one) => (label === "" || one.label === +label) && (!kinds.size || kinds.has(one.kind)),
    );
    return Math.max(-1, ...rows.map(({ probability }) => probability ?? -1));
  }
  select() {
    const shown = this.app.data.samples.filter((sample) => this.matches(sample)),
      sign = { high: -1, low: 1 }[this.filter.sort];
    if (sign) shown.sort((a, b) => sign * (this.confidence(a) - this.confidence(b)));
    return shown;
  }

  draw() {
    const { app, panel, filter } = this,
      { samples, methods } = app.data;
    const used = new Map();
    for (const sample of samples) for (const { label } of sample.labels) used.set(label, (used.get(label) ?? 0) + 1);
    setHtml(
      panel.querySelector("[data-set=label]"),
      `<option value="">all labels</option>${[...used]
        .sort(([a], [b]) => a - b)
        .map(([label, count]) => `<option value="${label}">${escape(app.nameOf(label))} (${count})</option>`)
        .join("")}`,
    );
    panel.querySelector("[data-set=label]").value = filter.label;
    setHtml(
      panel.querySelector("[data-set=method]"),
      methods.map((method) => `<option>${escape(method)}</option>`).join("") || "<option value=''>none yet</option>",
    );
    panel.querySelector("[data-set=method]").value = app.state.method ?? "";
    panel.querySelector("[data-set=opacity]").value = app.state.opacity;
    this.set("opacity", app.state.opacity);
    for (const button of panel.querySelectorAll("[data-kind]")) {
      const { kind } = button.dataset,
        count = samples.filter((sample) =>
          sample.labels.some((one) => one.kind === kind && (filter.label === "" || one.label === +filter.label)),
        ).length;
      button.setAttribute("aria-pressed", filter.kinds.has(kind));
      button.textContent = `${kind} ${count}`;
      button.disabled = !count && !filter.kinds.has(kind);
    }
    this.shown = this.select();
    const isFiltered = filter.label !== "" || filter.kinds.size;
    setHtml(
      panel.querySelector(".hits"),
      `${this.shown.length === samples.length ? "" : `${this.shown.length} of `}${samples.length} samples` +
        `${isFiltered ? ` <button data-do="clear">show all</button>` : ""}`,
    );
    if (!this.shown.some(({ id }) => id === this.id)) {
      this.id = this.shown[0]?.id;
      this.region.clear();
    }
    this.drawGrid();
    this.drawDetail();
  }
  drawGrid() {
    const { grid, shown } = this,
      there = new Map([...grid.children].map((cell) => [+cell.dataset.id, cell])),
      drawn = shown.slice(0, this.most);
    const cells = drawn.map((sample) => {
        const cell = there.get(sample.id) ?? this.makeCell(sample);
        delete cell.dataset.filled;
        this.seen.unobserve(cell);
        this.seen.observe(cell); // it reports cells in sight again
        return cell;
      }),
      hasFocus = grid.contains(document.activeElement);
    if (cells.length !== grid.children.length || cells.some((cell, i) => cell !== grid.children[i]))
      grid.replaceChildren(...cells);
    const more = this.panel.querySelector(".more");
    more.hidden = shown.length <= this.most;
    more.textContent = `show ${Math.min(MOST, shown.length - drawn.length)} more of ${shown.length}`;
    grid.hidden = !drawn.length;
    this.mark();
    if (hasFocus) grid.querySelector('[aria-selected="true"]')?.focus();
  }
  makeCell({ id }) {
    const cell = document.createElement("div");
    cell.setAttribute("role", "option");
    cell.dataset.id = id;
    cell.innerHTML = `<div class="stack"><img alt="" hidden><canvas aria-hidden="true"></canvas></div>`;
    return cell;
  }
  mark() {
    for (const cell of this.grid.children) {
      const on = +cell.dataset.id === this.id;
      cell.setAttribute("aria-selected", on);
      cell.tabIndex = on ? 0 : -1;
    }
  }
  // Draw a thumbnail once it is visible.
  fill(cell) {
    const { app } = this,
      sample = app.data.samples.find(({ id }) => id === +cell.dataset.id);
    if (!sample || cell.dataset.filled) return;
    cell.dataset.filled = "1";
    const label = this.labelOf(sample),
      row = sample.labels.find((one) => one.label === label),
      image = cell.querySelector("img");
    image.hidden = !app.pictures.has(sample.image);
    if (!image.hidden) image.src = app.pictures.url(sample.image);
    cell.classList.toggle("missing", image.hidden);
    cell.querySelector(".badge")?.remove();
    cell.insertAdjacentHTML("beforeend", badge(row?.kind));
    const words = row
      ? `${app.nameOf(label)} ${formatProbability(row.probability)} ${row.kind ?? ""}`
      : "no prediction yet";
    cell.setAttribute("aria-label", `sample ${sample.id}: ${words}`);
    cell.title = `sample ${sample.id}: ${words}`;
    this.overlay(cell.querySelector("canvas"), sample, app.state.method, label);
  }
  overlay(canvas, sample, method, label) {
    const path = sample.maps[method]?.[label];
    canvas.hidden = !this.app.pictures.has(path);
    if (!canvas.hidden) this.app.pictures.draw(canvas, path);
    return path;
  }

  drawDetail() {
    const { app, detail } = this,
      sample = app.data.samples.find(({ id }) => id === this.id);
    if (!sample) {
      detail.textContent = app.data.samples.length ? "No sample is left: show all labels and kinds." : "";
      return;
    }
    detail.setAttribute("aria-label", `sample ${sample.id}`);
    const label = this.labelOf(sample),
      truth = sample.truth.map((one) => escape(app.nameOf(one))).join(", ");
    const rows = sample.labels.map((one) => {
      const on = one.label === label,
        sure = one.interval ? `95 % between ${one.interval.map(formatProbability).join(" and ")}` : "";
      return (
        `<button role="radio" aria-checked="${on}" data-label="${one.label}">${badge(one.kind)}` +
        `<span class="name">${escape(app.nameOf(one.label))}</span><i class="bar" style="--share:${
          one.probability ?? 0
        }"></i><span class="number">${formatProbability(one.probability)}</span>${
          sure ? `<span class="soft">${sure}</span>` : ""
        }</button>`
      );
    });
    const figure = (title, method) => {
      const path = method === null ? sample.image : sample.maps[method]?.[label],
        there = app.pictures.has(path),
        on = method !== null && method === app.state.method;
      return (
        `<figure${on ? ' class="on"' : ""} data-method="${escape(method ?? "")}">` +
        `<figcaption title="${escape(title)}">${escape(title)}</figcaption>` +
        `<div class="stack" role="img" aria-label="${escape(
          method === null
            ? `picture of sample ${sample.id}`
            : `${method} of sample ${sample.id} for ${app.nameOf(label)}`,
        )}"><img alt=""${app.pictures.has(sample.image) ? ` src="${app.pictures.url(sample.image)}"` : " hidden"}>${
          method === null ? "" : `<canvas aria-hidden="true"${there ? "" : " hidden"}></canvas>`
        }${there ? "" : `<span class="lack soft">${escape(app.pictures.problem(path))}</span>`}</div></figure>`
      );
    };
    const html = `<div class="facts"><h3>sample ${sample.id}</h3><p class="soft">${
      truth ? `true: ${truth}` : "no true label"
    }</p><div class="labels" role="radiogroup" aria-label="label that is explained">${
      rows.join("") || '<p class="soft">no label reaches the threshold</p>'
    }</div></div><div class="figures">${figure("picture", null)}${app.data.methods
      .map((method) => figure(method, method))
      .join("")}</div><div class="region"></div>`;
    const focused = this.focused();
    if (setHtml(detail, html)) {
      this.region.attach(detail, sample, label);
      const image = detail.querySelector("img"),
        shape = () => detail.style.setProperty("--ratio", image.naturalWidth / image.naturalHeight || 1);
      image.addEventListener("load", shape);
      if (focused) detail.querySelector(focused)?.focus();
    }
    for (const one of detail.querySelectorAll("figure[data-method]")) {
      const canvas = one.querySelector("canvas");
      if (canvas) this.overlay(canvas, sample, one.dataset.method, label);
    }
    this.roveLabels();
    this.askFull(sample);
  }
  // The selector of the focused control in the detail, which is redrawn.
  focused() {
    const active = this.detail.contains(document.activeElement) ? document.activeElement : null,
      figure = active?.closest("figure");
    if (figure) return `figure[data-method="${CSS.escape(figure.dataset.method)}"] .stack`;
    return active?.matches("[data-label]") ? "[aria-checked=true]" : null;
  }
  roveLabels() {
    const all = [...this.detail.querySelectorAll("[role=radio]")];
    for (const one of all) one.tabIndex = one.getAttribute("aria-checked") === "true" ? 0 : -1;
    for (const [at, one] of all.entries())
      one.onkeydown = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step || all.length < 2) return;
        event.preventDefault();
        event.stopPropagation();
        all[(at + step + all.length) % all.length].click();
      };
  }
  // Ask the kernel, if there is one, for the files of the sample in full size.
  async askFull(sample) {
    const { app } = this,
      files = [sample.image, ...Object.values(sample.maps).flatMap((one) => Object.values(one))].filter(
        (path) => path && app.pictures.has(path) && !this.asked.has(path),
      );
    if (!app.host || !files.length) return;
    for (const path of files) this.asked.add(path);
    const answer = await app.host.ask({ files });
    if (answer.problem) return;
    answer.files.forEach((path, i) => app.pictures.setFull(path, answer.buffers[i]));
    if (this.id === sample.id && app.root.isConnected) {
      for (const image of this.detail.querySelectorAll(".figures img")) image.src = app.pictures.url(sample.image);
      const cell = this.grid.querySelector(`[data-id="${sample.id}"]`);
      if (cell) {
        delete cell.dataset.filled;
        this.fill(cell);
      }
      this.drawDetail();
    }
  }
}
