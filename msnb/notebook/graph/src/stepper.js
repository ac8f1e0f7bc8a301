// The cursor over a paused step: buttons and keys for the words of the prompt. The kernel moves it, and answers with
// its position in the trait `debug`.
import css from "./stepper.css";
import { escape } from "../../src/escape.js";

// [word of the prompt and key, label, title]
const MOVES = [
  [
    ["p", "◀", "previous node"],
    ["n", "▶", "next node"],
  ],
  [
    ["P", "▲ line", "previous line of Python"],
    ["N", "▼ line", "next line of Python"],
  ],
  [
    ["i", "into", "into the next Cell, loop or branch"],
    ["o", "out", "out of this Cell"],
  ],
  [
    ["[", "− round", "previous round of the loop"],
    ["]", "+ round", "next round of the loop"],
  ],
  [["m", "other lane", "same operator in the other lane"]],
];
const KEYS = new Set([...MOVES.flat().map(([word]) => word), "r", "c", "s"]);
const PATIENCE = 400; // milliseconds between greetings
const STATUS = { paused: "paused", running: "running", prompt: "at the prompt", ended: "done", gone: "no kernel" };
const WAITS = "The training waits at this step. A cell that you run now begins after this cell has ended.";

const button = ([word, label, title]) =>
  `<button data-word="${escape(word)}" title="${escape(`${title} (${word})`)}" aria-label="${escape(title)}" ` +
  `aria-keyshortcuts="${escape(word)}">${escape(label)}<kbd>${escape(word)}</kbd></button>`;
const group = (buttons) => `<span class="group">${buttons.map(button).join("")}</span>`;

const html =
  `<div class="stepper" role="toolbar" aria-label="step through the paused step" hidden><span class="status" ` +
  `role="status"></span><span class="moves group"></span>${MOVES.map(group).join("")}<form><input name="query" ` +
  `title="a query, such as op:ReLU line:12 (r)" aria-label="run to a node" aria-keyshortcuts="r" ` +
  `placeholder="run to (r)" autocomplete="off" spellcheck="false"></form>` +
  `<select class="watch-hits" aria-label="hits of watchpoints" title="hits of watchpoints" hidden></select>` +
  `<span class="gap"></span><span class="group"><button data-word="s" title="run the next steps, then pause (s)" ` +
  `aria-label="run steps" aria-keyshortcuts="s">step<kbd>s</kbd></button><input class="count" type="number" min="1" ` +
  `value="1" title="number of steps" aria-label="number of steps"></span><span class="group"><button data-word="c" ` +
  `title="continue to the next hit, breakpoint or pause (c)" aria-label="continue" aria-keyshortcuts="c">continue` +
  `<kbd>c</kbd></button><button data-word="pause" title="pause at the next step" aria-label="pause">pause</button>` +
  `<button data-word="q" title="stop the training" aria-label="stop">stop</button></span>` +
  `<div class="where"></div><div class="reply" aria-live="polite"></div></div>`;

export class Stepper {
  constructor(app) {
    this.app = app;
    app.root.insertAdjacentHTML("afterbegin", `<style>${css}</style>`);
    app.root.querySelector(".body").insertAdjacentHTML("beforebegin", html);
    const bar = (this.bar = app.root.querySelector(".stepper"));
    app.on(bar, "click", (e) => this.press(e.target.closest("[data-word]")));
    app.on(bar.querySelector("form"), "submit", (e) => {
      e.preventDefault();
      const query = bar.querySelector("[name=query]").value.trim();
      if (query) this.ask(`r ${query}`);
      app.panes[0]?.svg.focus();
    });
    app.on(bar.querySelector(".watch-hits"), "change", (e) => this.ask(`r node:${e.target.value}`));
    app.on(app.root, "keydown", (e) => this.key(e));
    app.host.on("debug", () => this.renew());
  }
  get state() {
    return this.app.host.get("debug") || {};
  }
  get isPaused() {
    return this.state.status === "paused";
  }
  ask(word) {
    this.app.host.ask?.("debug", { word });
  }
  press(pressed) {
    if (!pressed || pressed.disabled) return;
    const { word } = pressed.dataset;
    this.ask(word === "s" ? `s ${Math.max(1, Math.floor(+this.bar.querySelector(".count").value) || 1)}` : word);
  }
  key(e) {
    if (this.bar.hidden || e.ctrlKey || e.metaKey || e.altKey || !KEYS.has(e.key)) return;
    if (e.target.matches?.("input, select, textarea")) return;
    e.preventDefault();
    e.stopPropagation();
    if (e.key === "r") this.bar.querySelector("[name=query]").focus();
    else {
      const pressed = this.bar.querySelector(`[data-word="${CSS.escape(e.key)}"]`);
      this.press(pressed);
    }
  }
  // Called when the state has changed, and when the graph was drawn.
  renew() {
    const { app, bar, state } = this,
      isGone = app.strip.gone,
      { where = "", said = "", hits = [], node = -1, round } = state,
      status = state.status && isGone ? "gone" : state.status,
      ready = state.ready && !isGone;
    bar.hidden = !status;
    if (!status) return;
    app.root.dataset.lmSuppressShortcuts = "true"; // the notebook has other meanings for these keys
    bar.dataset.status = status;
    bar.querySelector(".status").textContent = STATUS[status] || status;
    bar.querySelector(".status").title = status === "paused" ? WAITS : "";
    bar.querySelector(".where").textContent = where;
    bar.querySelector(".reply").textContent =
      (!isGone && said) || (ready || status !== "paused" ? "" : "connecting to the kernel …");
    const focused = bar.getRootNode().activeElement;
    for (const one of bar.querySelectorAll("input, select")) one.disabled = isGone;
    for (const one of bar.querySelectorAll("[data-word]")) {
      const { word } = one.dataset,
        ends = ["s", "c", "q"].includes(word);
      one.disabled = !ready || (word === "pause" ? status !== "running" : ends ? status !== "paused" : node < 0);
    }
    // A disabled button would lose the focus, and keys would go to the notebook.
    if (focused?.disabled && bar.contains(focused))
      bar.querySelector(`[data-word="${status === "running" ? "pause" : "n"}"]`).focus();
    this.offerHits(hits, node);
    if (!ready && !isGone && status !== "ended") this.greet();
    const at = JSON.stringify([node, round]);
    if (at !== this.at) this.show(node, round);
    this.at = at;
  }
  // The kernel receives messages once the notebook has a channel that works while a cell runs; until then they are
  // queued.
  greet() {
    if (this.greeting || this.app.dead) return;
    this.ask("hello");
    this.greeting = setTimeout(() => {
      this.greeting = 0;
      if (!this.state.ready && this.state.status !== "ended") this.greet();
    }, PATIENCE);
  }
  offerHits(hits, node) {
    const select = this.bar.querySelector(".watch-hits");
    select.hidden = !hits.length;
    select.innerHTML = hits.map(({ node: at, text }) => `<option value="${at}">${escape(text)}</option>`).join("");
    select.value = hits.some((hit) => hit.node === node) ? String(node) : "";
  }
  // Select the node of the cursor in the graph, the panel and the source.
  show(node, round) {
    const { app } = this,
      pane = app.panes[0],
      { stage } = pane || {};
    if (!stage || node < 0 || stage.name !== app.host.get("valued")) return;
    const id = stage.ids ? stage.ids.indexOf(node) : node;
    if (id < 0 || id >= stage.n) return;
    if (!this.hasSource && app.root.clientWidth > 900 && !app.source.shown && Object.keys(app.data.files || {}).length)
      app.source.toggle();
    this.hasSource = true;
    Object.assign(app.values, { selected: id, round, part: "", channel: -1, examples: null });
    pane.select(id, { show: true });
  }
}
