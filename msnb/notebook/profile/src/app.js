// The frame: the parts of a step, the advice, and tabs for the rest.
import { isDark } from "../../src/theme.js";
import frame from "../../src/frame.css";
import own from "./style.css";
import { escape } from "../../src/escape.js";
import { keysOf } from "../../src/keys.js";
import { formatLocation } from "../../src/location.js";
import { time, percent, line } from "./format.js";
import { Operators, cells } from "./tables.js";
import { roofline, memory } from "./charts.js";
import { Timeline } from "./timeline.js";

const PARTS = {
  compute: ["compute", "kernels run"],
  gaps: [
    "gaps",
    "a program runs, but none of its kernels does: threads are woken up, or other processes have the cores",
  ],
  data: ["data", "the device waits for the dataset"],
  host: ["host", "Python and dispatch: no program runs"],
  unknown: ["unknown", "no steady step was traced"],
};
const TABS = [
  ["operators", "Operators"],
  ["cells", "Cells"],
  ["roofline", "Roofline"],
  ["memory", "Memory"],
  ["timeline", "Timeline"],
  ["graph", "Graph"],
];
let serial = 0;

export class App {
  constructor(el, data, host) {
    this.data = data;
    this.host = host;
    this.id = `msnb-profile-${++serial}`;
    this.made = {};
    this.undo = [];
    this.root = document.createElement("section");
    this.root.className = "msnb-view msnb-profile";
    this.root.setAttribute("aria-label", data.headline);
    this.root.innerHTML =
      `<style>${frame}${own}</style>${this.head()}${this.advice()}<div class="tabs"><div class="all" role="tablist">` +
      `${this.tabs()
        .map(
          ([key, title]) =>
            `<button role="tab" id="${this.id}-${key}" data-tab="${key}" aria-controls="${this.id}-panel" ` +
            `aria-selected="false" tabindex="-1">${title}</button>`,
        )
        .join("")}</div><button data-do="keys" aria-label="keys" title="what the keys do">?</button></div>
      <div class="panel" role="tabpanel" id="${this.id}-panel"></div>${
        data.notes.length
          ? `<ul class="notes soft">${data.notes.map((n) => `<li>${escape(n)}</li>`).join("")}</ul>`
          : ""
      }`;
    el.append(this.root);
    this.panel = this.root.querySelector(".panel");
    this.root.addEventListener("click", (e) => this.click(e));
    this.root.querySelector(".tabs").addEventListener("keydown", (e) => {
      const keys = this.tabs().map((t) => t[0]),
        to = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!to) return;
      e.preventDefault();
      e.stopPropagation();
      this.choose(keys[(keys.indexOf(this.tab) + to + keys.length) % keys.length], true);
    });
    for (const type of ["keydown", "keyup", "keypress"])
      this.root.addEventListener(type, (e) => {
        if (e.target.matches?.("input")) e.stopPropagation();
      }); // the notebook has shortcuts of its own
    keysOf(this.root);
    this.watchTheme();
    this.choose("operators");
    this.sizes = new ResizeObserver(() => {
      const wide = this.root.clientWidth;
      if (Math.abs(wide - (this.wide || 0)) > 24) {
        this.wide = wide;
        for (const key of ["roofline", "memory"]) delete this.made[key];
        if (["roofline", "memory"].includes(this.tab)) this.choose(this.tab);
        this.made.timeline?.draw();
      }
    });
    this.sizes.observe(this.root);
    this.root.dataset.ready = "";
  }
  tabs() {
    return TABS.filter(([key]) => key !== "graph" || this.host.graph);
  }
  head() {
    const d = this.data,
      total = d.total || 1,
      how = d.how,
      measured = (how.measured || 0) + (how.fused || 0);
    const parts = Object.entries(d.parts)
      .filter(([, v]) => v > 0)
      .map(([k, v]) => [...PARTS[k], v]);
    return (
      `<header><div class="big"><span class="figure">${time(d.step)}</span> <span>a step of <b>` +
      `${escape(d.name)}</b></span></div>
      <p class="soft">${d.mode}, ${d.steps.length} steps${
        d.steps.length > 1 ? ` between ${time(d.low)} and ${time(d.high)}` : ""
      }${d.compile ? `; compiling took ${time(d.compile)}` : ""}; ${escape(d.machine.device)}</p>
      <div class="split" role="img" aria-label="${parts.map((p) => `${p[0]} ${percent(p[2] / total)}`).join(", ")}` +
      `">${parts.map(([name, , v]) => `<i class="${name}" style="width:${(100 * v) / total}%"></i>`).join("")}</div>
      <p class="legend">${parts
        .map(
          ([name, title, v]) =>
            `<span title="${title}"><i class="dot ${name}"></i>` +
            ` ${name} <b>${percent(v / total)}</b> ${time(v)}</span>`,
        )
        .join("")}${
        Math.abs(d.traced / d.step - 1) > 0.05
          ? `<span title="A trace of the kernels makes a step longer. Parts and rows are told in proportion to ` +
            `the step without one.">in the proportion of traced steps, ${time(d.traced)} each</span>`
          : ""
      }${
        d.rows.length
          ? `<span class="known" title="${Object.entries(how)
              .filter(([, v]) => v > 0)
              .map(([k, v]) => `${k} ${percent(v)}`)
              .join(", ")}">${percent(measured)} of the kernels' time measured on operators${
              how.xla > 0.005 ? `, ${percent(how.xla)} copies by XLA` : ""
            }${how.inferred > 0.0005 ? `, ${percent(how.inferred)} inferred` : ""}</span>`
          : ""
      }</p></header>`
    );
  }
  advice() {
    const places = new Map(this.data.rows.filter((r) => r.l).map((r) => [escape(formatLocation(r.l)), r.l])),
      words = [...places.keys()]
        .sort((a, b) => b.length - a.length)
        .map((p) => p.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")),
      linked = (text) =>
        words.length ? text.replace(RegExp(`(${words.join("|")})(?!\\d)`, "g"), (p) => line(places.get(p))) : text;
    return `<ol class="advice">${this.data.advice
      .map(
        (a) =>
          `<li class="${a.k}"><span class="share">${a.k === "fine" ? "✓" : escape(a.m)}</span><span>` +
          `${linked(escape(a.t))}${
            a.r >= 0 ? ` <button class="link" data-find="${a.r}">show</button>` : ""
          }</span></li>`,
      )
      .join("")}</ol>`;
  }
  click(e) {
    const tab = e.target.closest("[data-tab]"),
      at = e.target.closest(".at"),
      find = e.target.closest("[data-find]");
    if (tab) this.choose(tab.dataset.tab);
    else if (at)
      window.dispatchEvent(
        new CustomEvent("msnb:reveal", {
          detail: {
            file: at.dataset.file,
            line: +at.dataset.line,
            cell: this.host.cells?.[at.dataset.file] ?? null,
            asked: true,
          },
        }),
      );
    else if (find) this.pick(+find.dataset.find);
  }
  pick(row) {
    this.choose("operators");
    this.made.operators.find(row);
  }
  // a row was chosen in the table: show its nodes in the graph
  follow(row) {
    const at = this.data.rows[row].g[0];
    if (at === undefined || !this.host.graph) return;
    this.choose("graph");
    this.mounted?.then((graph) => graph?.select(at));
  }
  choose(key, focus) {
    this.tab = key;
    for (const b of this.root.querySelectorAll("[data-tab]")) {
      const on = b.dataset.tab === key;
      b.setAttribute("aria-selected", on);
      b.tabIndex = on ? 0 : -1;
      if (on && focus) b.focus();
    }
    this.panel.setAttribute("aria-labelledby", `${this.id}-${key}`);
    const wide = this.root.clientWidth - 26;
    this.made[key] ??= {
      operators: () => new Operators(this.data, (row) => this.follow(row)),
      cells: () => ({ element: cells(this.data) }),
      roofline: () => ({ element: roofline(this.data, (row) => this.pick(row), wide) }),
      memory: () => ({ element: memory(this.data, wide) }),
      timeline: () =>
        new Timeline(
          this.data,
          () => this.paint(),
          (row) => this.pick(row),
        ),
      graph: () => this.graph(),
    }[key]();
    this.panel.replaceChildren(this.made[key].element);
    this.made[key].draw?.();
  }
  graph() {
    const element = document.createElement("div");
    element.className = "graph";
    const shadow = element.attachShadow({ mode: "open" }); // its styles and these know nothing of each other
    this.mounted = this.host.graph(shadow, this.root.clientWidth > 640).catch((error) => {
      shadow.textContent = `The graph could not be drawn: ${error.message}`;
      return null;
    });
    return { element };
  }
  paint() {
    const style = getComputedStyle(this.root),
      of = (name) => style.getPropertyValue(`--${name}`).trim();
    return Object.fromEntries(
      ["bg", "panel", "ink", "soft", "forward", "backward", "update", "other", "warn", "on"].map((n) => [n, of(n)]),
    );
  }
  watchTheme() {
    const media = window.matchMedia("(prefers-color-scheme: dark)"),
      body = document.body;
    const set = () => {
      this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
      this.made.timeline?.draw();
    };
    const watch = new MutationObserver(set);
    watch.observe(body, { attributes: true });
    watch.observe(document.documentElement, { attributes: true });
    media.addEventListener("change", set);
    this.undo.push(
      () => watch.disconnect(),
      () => media.removeEventListener("change", set),
    );
    set();
  }
  destroy() {
    for (const act of this.undo) act();
    this.sizes?.disconnect();
    this.mounted?.then((graph) => graph?.destroy());
    this.root.remove();
    this.data = null;
    this.made = {};
  }
}
