// The frame: tabs, tools, keys and theme. The tabs draw themselves from `data`, the content that the kernel sends.
import { escape } from "../../src/escape.js";
import frame from "../../src/frame.css";
import { keysOf } from "../../src/keys.js";
import { isDark } from "../../src/theme.js";
import { Images } from "./images.js";
import { Pictures } from "./overlay.js";
import { Running } from "./running.js";
import { Scores } from "./scores.js";
import own from "./style.css";

const TABS = [
  ["images", "Pictures"],
  ["scores", "Scores"],
];
const KEYS = [
  ["← →", "previous, next picture"],
  ["↑ ↓", "a row of pictures up, down"],
  ["f", "filter by label"],
  ["m", "next method"],
  ["+ −", "opacity of the maps"],
  ["Shift + arrows", "move the region of the focused picture"],
  ["Enter", "channels of this region"],
  ["?", "these keys"],
];
let serial = 0;

export class App {
  // host: the kernel, null in a saved page
  constructor(el, data, host) {
    this.host = host;
    this.id = `msnb-explain-${++serial}`;
    this.pictures = new Pictures();
    this.state = { tab: "images", opacity: 0.7, method: null };
    this.root = document.createElement("section");
    this.root.className = "msnb-view msnb-explain";
    this.root.setAttribute("aria-label", `Explanations in ${data.title}`);
    this.root.innerHTML =
      `<style>${frame}${own}</style><header><p class="title"></p><div class="tabs" role="tablist">${TABS.map(
        ([key, title]) =>
          `<button role="tab" id="${this.id}-${key}" data-tab="${key}" aria-controls="${this.id}-panel-${key}">` +
          `${title}</button>`,
      ).join("")}<button data-do="keys" aria-label="keys" title="what the keys do">?</button></div></header>` +
      `<div class="running" role="group" aria-label="running explainer" hidden></div>${TABS.map(
        ([key]) =>
          `<div role="tabpanel" class="panel ${key}" id="${this.id}-panel-${key}" ` +
          `aria-labelledby="${this.id}-${key}"></div>`,
      ).join("")}<p class="said unseen" role="status"></p><ul class="notes soft"></ul>`;
    el.append(this.root);
    this.cleanup = new AbortController();
    this.watchTheme();
    this.running = new Running(this, this.find(".running"));
    this.store(data);
    this.views = {
      images: new Images(this, this.find(".panel.images")),
      scores: new Scores(this, this.find(".panel.scores")),
    };
    this.listen();
    keysOf(this.root, [], KEYS);
    this.draw();
    this.root.dataset.ready = "";
  }
  destroy() {
    this.cleanup.abort();
    this.running.close();
    this.views.images.close();
    this.pictures.close();
    this.root.remove();
  }
  find(selector) {
    return this.root.querySelector(selector);
  }
  say(words) {
    this.find(".said").textContent = words;
  }
  nameOf(label) {
    return this.data.labels[label] ?? `label ${label}`;
  }

  store(data) {
    this.pictures.take(data.images, data.problems, data.status);
    this.data = data;
    if (!data.methods.includes(this.state.method)) this.state.method = data.methods[0] ?? null;
  }
  // Take the content that the kernel has sent.
  take(data) {
    this.store(data);
    this.draw();
  }

  draw() {
    const { data, state } = this,
      kinds = { TP: 0, FP: 0, FN: 0, TN: 0 };
    for (const { labels } of data.samples) for (const { kind } of labels) if (kind) kinds[kind]++;
    const counts = Object.entries(kinds).filter(([, count]) => count);
    this.find(".title").innerHTML =
      `<b>${escape(data.title)}</b> <span class="soft">${data.samples.length} samples, ${data.labels.length} labels, ` +
      `${data.methods.length} methods${counts.length ? "; " : ""}${counts
        .map(([kind, count]) => `${count} ${kind}`)
        .join(", ")}</span>`;
    for (const [key] of TABS) {
      const tab = this.find(`[data-tab=${key}]`),
        on = key === state.tab;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
      this.find(`.panel.${key}`).hidden = !on;
    }
    this.views[state.tab].draw();
    this.root.toggleAttribute("data-empty", !data.samples.length);
    const missing = Object.keys(data.problems).length,
      notes = [
        data.waiting,
        data.note,
        { interrupted: "The run was interrupted.", failed: "The run has failed." }[data.status],
        missing && `${missing} of the pictures are missing on disk: ${first(data.problems)}`,
      ];
    this.find(".notes").innerHTML = notes
      .filter(Boolean)
      .map((note) => `<li>${escape(note)}</li>`)
      .join("");
  }
  show(tab, focus) {
    this.state.tab = tab;
    this.draw();
    if (focus) this.find(`[data-tab=${tab}]`).focus();
  }

  listen() {
    const { root } = this,
      { signal } = this.cleanup;
    root.addEventListener("click", ({ target }) => {
      const tab = target.closest("[data-tab]");
      if (tab) this.show(tab.dataset.tab, true);
    });
    this.find(".tabs").addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      this.show(this.state.tab === "images" ? "scores" : "images", true);
    });
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
        event.stopPropagation(); // the notebook has shortcuts of its own
        return;
      }
      if (this.state.tab === "images" && this.views.images.press(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    for (const type of ["keyup", "keypress"])
      root.addEventListener(
        type,
        (event) => event.target.matches?.("input, select, textarea") && event.stopPropagation(),
        { signal },
      );
  }

  watchTheme() {
    const { signal } = this.cleanup,
      set = () => {
        const theme = isDark(this.root) ? "dark" : "light";
        if (this.theme === theme) return;
        this.theme = this.root.dataset.theme = theme;
        if (this.views) this.draw();
      },
      watch = new MutationObserver(set);
    for (const one of [document.body, document.documentElement]) watch.observe(one, { attributes: true });
    signal.addEventListener("abort", () => watch.disconnect());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", set, { signal });
    for (const type of ["beforeprint", "afterprint"]) addEventListener(type, set, { signal });
    set();
  }
}

const first = (problems) => {
  const [[path, reason]] = Object.entries(problems);
  return `${path}, ${reason}`;
};
