// The widget: findings, the slider over the steps, tabs, theme.
import { isDark } from "../../src/theme.js";
import { axis, path } from "./chart.js";
import { Data } from "./data.js";
import { details } from "./details.js";
import { layers } from "./layers.js";
import { drawGraphTab } from "./graph_tab.js";
import { unzip } from "../../src/bytes.js";
import { escape } from "../../src/escape.js";
import { keysOf } from "../../src/keys.js";
import { parseLocation } from "../../src/location.js";
import { element, isFiniteNumber, formatNumber } from "./format.js";
import { table } from "./table.js";
import { tensors } from "./tensors.js";

// what the keys do outside of the tables
const KEYS = [
  ["← → on a tab", "Layers, Table, Graph, Tensors"],
  ["← → on the slider", "step by step"],
  ["? in the graph", "the keys of the graph"],
  ["Escape", "close this"],
];

export class App {
  constructor(el, host) {
    this.el = el;
    this.host = host;
    this.cleanup = new AbortController();
    this.root = element("div", "", "msnb-grad");
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "gradients of a training");
    el.append(this.root);
    this.tab = "layers";
    this.kind = null;
    this.statistic = "rms";
    this.sort = null;
    this.filter = "";
    this.row = -1;
    this.place = {}; // where the keyboard stands in the table
    this.theme();
    const watch = new MutationObserver(() => this.theme(true));
    watch.observe(document.body, { attributes: true });
    watch.observe(document.documentElement, { attributes: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme(true), {
      signal: this.cleanup.signal,
    });
    const size = new ResizeObserver(() => {
      const width = this.root.clientWidth;
      this.root.classList.toggle("narrow", width < 720);
      if (width !== this.width && this.data) {
        this.width = width;
        this.draw();
        this.drawLoss();
      }
    });
    size.observe(this.root);
    this.cleanup.signal.addEventListener("abort", () => {
      watch.disconnect();
      size.disconnect();
      clearInterval(this.playing);
      this.graph?.destroy();
    });
    this.ready = this.load(host.payload());
  }
  destroy() {
    this.cleanup.abort();
    this.root.remove();
    this.data = null;
  }

  theme(again = false) {
    const dark = isDark(this.root);
    if (again && dark === this.dark) return;
    this.dark = dark;
    this.root.dataset.theme = dark ? "dark" : "light";
    if (again && this.data) this.draw();
  }

  async load(bytes) {
    try {
      this.data = new Data(JSON.parse(await unzip(bytes)));
    } catch (problem) {
      this.root.innerHTML = `<div class="note">These gradients cannot be shown: ${escape(problem.message)}</div>`;
      return;
    }
    const { data } = this;
    this.step = data.steps.length - 1;
    this.kinds = [...new Set(data.rows.map((r) => r.kind))];
    this.kind = this.kinds.includes("parameter") ? "parameter" : this.kinds[0];
    this.row = -1;
    const counts = (name) => data.rows.some((r) => r.values[name]?.some((v) => v > 0));
    this.statistic = ["nan", "inf"].find(counts) ?? "rms"; // of what is no number everything else is unknown
    this.skeleton();
    this.width = this.root.clientWidth;
    this.go(this.step);
    this.root.dataset.ready = "1";
  }

  skeleton() {
    const { data } = this,
      tabs = [
        ["layers", "Layers"],
        ["table", "Table"],
        ["graph", "Graph"],
        ["tensors", "Tensors"],
      ];
    this.root.innerHTML =
      `
      <div class="bar"><div class="tabs" role="tablist">${tabs
        .map(
          ([key, label]) =>
            `<button role="tab" data-tab="${key}" aria-selected="${key === this.tab}" ` +
            `tabindex="${key === this.tab ? 0 : -1}">${label}</button>`,
        )
        .join("")}</div>
        <span class="gap"></span><span class="soft">${escape(data.mode)} mode · ${data.rows.length} rows · ` +
      `${data.steps.length} step${data.steps.length === 1 ? "" : "s"}</span>
        <button data-do="keys" aria-label="keys" title="what the keys do">?</button></div>
      <div class="findings" tabindex="0" role="list" aria-label="findings">${this.findings()}</div>
      <div class="time"><button data-do="play" aria-label="play the steps" title="play the steps">▶</button>
        <div class="where" aria-live="polite"></div><div class="track"><svg aria-hidden="true"></svg>
        <input type="range" min="0" max="${Math.max(0, data.steps.length - 1)}" step="1" value="${this.step}" ` +
      `aria-label="step"></div></div>
      <div class="body"><div class="main"></div><div class="side" hidden></div></div>`;
    const find = (selector) => this.root.querySelector(selector),
      signal = { signal: this.cleanup.signal };
    find(".time").classList.toggle("one", data.steps.length < 2); // nothing to play, nowhere to go
    keysOf(this.root, KEYS);
    this.main = find(".main");
    this.side = find(".side");
    this.slider = find(".time input");
    this.where = find(".where");
    this.slider.addEventListener("input", () => this.go(+this.slider.value), signal);
    find("[data-do=play]").addEventListener("click", () => this.play(), signal);
    for (const button of this.root.querySelectorAll("[data-tab]"))
      button.addEventListener("click", () => this.open(button.dataset.tab), signal);
    find(".tabs").addEventListener(
      "keydown",
      (event) => {
        const all = [...this.root.querySelectorAll("[data-tab]")],
          at = all.indexOf(document.activeElement),
          to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
        if (to !== undefined && all[to]) {
          event.preventDefault();
          all[to].focus();
          this.open(all[to].dataset.tab);
        }
      },
      signal,
    );
    find(".findings").addEventListener(
      "click",
      (event) => {
        const link = event.target.closest("[data-finding]");
        if (!link) return;
        const finding = data.findings[+link.dataset.finding];
        if (link.dataset.what === "line") this.reveal(finding.line);
        else {
          if (finding.step !== null) {
            const at = data.steps.indexOf(finding.step);
            if (at >= 0) this.go(at);
          }
          if (finding.rows.length) this.select(finding.rows[0]);
        }
      },
      signal,
    );
  }
  findings() {
    const { data } = this;
    if (!data.findings.length)
      return (
        `<div class="finding ${data.steps.length ? "fine" : ""}" role="listitem">` +
        `<span class="mark">${data.steps.length ? "✔" : "–"}</span>` +
        `<span>${data.steps.length ? "Nothing wrong was found." : "No gradients recorded yet."}</span></div>`
      );
    return data.findings
      .map(
        (f, i) =>
          `<div class="finding ${f.severity}" role="listitem"><span class="mark" aria-label="${f.severity}">` +
          `${f.severity === "error" ? "✖" : "▲"}</span>
      <span>${escape(f.text)} ${
        f.rows.length || f.step !== null
          ? `<button class="link" data-finding="${i}" data-what="show">show</button>`
          : ""
      }${f.line ? " · " : ""}${
        f.line ? `<button class="link" data-finding="${i}" data-what="line">${escape(f.line)}</button>` : ""
      }</span></div>`,
      )
      .join("");
  }

  // ---- steps
  go(step) {
    const { data } = this;
    if (!data.steps.length) {
      this.draw();
      return;
    }
    this.step = Math.max(0, Math.min(data.steps.length - 1, step));
    this.slider.value = this.step;
    const loss = data.loss[this.step];
    this.where.innerHTML =
      `step <b>${data.steps[this.step]}</b>${data.steps.length > 1 ? "<br>" : " "}<span class="soft">` +
      `${loss === null ? "" : `loss ${escape(formatNumber(loss))}`}</span>`;
    this.slider.setAttribute(
      "aria-valuetext",
      `step ${data.steps[this.step]}${loss === null ? "" : `, loss ${formatNumber(loss)}`}`,
    );
    this.root.dataset.step = data.steps[this.step];
    this.host.set?.("step", data.steps[this.step]);
    this.drawLoss();
    this.draw();
  }
  play() {
    const button = this.root.querySelector("[data-do=play]");
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = null;
      button.textContent = "▶";
      return;
    }
    button.textContent = "❚❚";
    if (this.step === this.data.steps.length - 1) this.go(0);
    this.playing = setInterval(
      () => {
        if (!this.data || this.step >= this.data.steps.length - 1) this.play();
        else this.go(this.step + 1);
      },
      Math.max(40, Math.min(400, 6000 / this.data.steps.length)),
    );
  }
  drawLoss() {
    const { data } = this,
      svg = this.root.querySelector(".time svg"),
      width = Math.max(20, svg.clientWidth),
      n = Math.max(1, data.steps.length - 1);
    const scale = axis(
      data.loss,
      data.loss.every((v) => !isFiniteNumber(v) || v > 0) &&
        data.loss.some(isFiniteNumber) &&
        Math.max(...data.loss.filter(isFiniteNumber)) > 20 * Math.min(...data.loss.filter(isFiniteNumber)),
      26,
    );
    const x = (i) => (data.steps.length > 1 ? (width * i) / n : width / 2);
    let parts = "";
    if (scale) parts += `<path class="curve" d="${path(data.loss, x, (v) => scale.place(v))}"/>`;
    data.loss.forEach((v, i) => {
      if (v !== null && !Number.isFinite(v) && (i === 0 || Number.isFinite(data.loss[i - 1])))
        parts += `<text class="nan" x="${Math.min(x(i), width - 24)}" y="10">NaN</text>`;
    });
    svg.innerHTML = `${parts}<line class="at" x1="${x(this.step)}" x2="${x(this.step)}" y1="-2" y2="28"/>`;
  }

  // ---- tabs
  open(tab) {
    this.tab = tab;
    for (const button of this.root.querySelectorAll("[data-tab]")) {
      button.setAttribute("aria-selected", String(button.dataset.tab === tab));
      button.tabIndex = button.dataset.tab === tab ? 0 : -1; // one Tab stop
    }
    this.main.innerHTML = "";
    this.graph?.destroy();
    this.graph = null;
    this.draw();
  }
  draw() {
    if (!this.data) return;
    const main = this.main,
      draw = { layers, table, graph: drawGraphTab, tensors }[this.tab];
    const top = main.scrollTop;
    draw(this);
    main.scrollTop = top;
    details(this);
  }
  // Show a complete tensor; if it is missing, ask the kernel for that of the last step.
  fetch({ kind, name }) {
    this.wanted = `${kind}:${name}`;
    this.problem = null;
    if (!this.data.tensors.some((t) => t.kind === kind && t.name === name)) this.host.fetch?.(kind, name);
    if (this.tab === "tensors") this.draw();
    else this.open("tensors");
  }
  fetched({ tensor, problem }) {
    if (!this.data) return;
    if (tensor) this.data.add(tensor);
    this.problem = problem ?? null;
    if (this.tab === "tensors") this.draw();
  }
  select(row) {
    this.row = row;
    const kind = this.data.rows[row]?.kind;
    if (kind && this.kind !== kind && this.tab !== "table") this.kind = kind;
    this.draw();
  }
  reveal(line) {
    const [file, at] = parseLocation(line);
    window.dispatchEvent(
      new CustomEvent("msnb:reveal", {
        detail: { file, line: at, cell: this.host.get?.("cells")?.[file] ?? null, asked: true },
      }),
    );
  }
  shown() {
    return this.data.rows.map((row, i) => [row, i]).filter(([row]) => row.kind === this.kind);
  }
}
