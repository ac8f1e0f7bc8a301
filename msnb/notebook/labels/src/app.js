// The labelling page: one item with the keys of the classes, a grid of likely items of a class, suspected faults, and
// the learning curve.
import { escape } from "../../src/escape.js";
import frame from "../../src/frame.css";
import { keysOf } from "../../src/keys.js";
import { setHtml } from "../../src/set_html.js";
import { isDark } from "../../src/theme.js";
import { Boxes } from "./boxes.js";
import { drawCurve } from "./curve.js";
import own from "./style.css";

const PATIENCE = 4000; // milliseconds
const LATE =
  "No answer yet: the kernel is busy with a cell and answers after it, or it has ended; then run the cell of this " +
  "page again.";
const TABS = { one: "One by one", batch: "Batch", faults: "Suspected faults" };
const KEYS = {
  class: [
    ["1 to 9", "the class"],
    ["Enter", "take the suggestion"],
  ],
  classes: [
    ["1 to 9", "a class, on and off"],
    ["0", "no class"],
    ["Enter", "take the selected classes, or the suggestion"],
  ],
  boxes: [
    ["1 to 9", "class of the next box"],
    ["b", "a box in the middle"],
    ["← → ↑ ↓", "move the last box; with Shift, its corner"],
    ["⌫", "remove the last box"],
    ["Enter", "take the boxes"],
  ],
};
const COMMON = [
  ["s", "skip"],
  ["z", "back"],
  ["?", "these keys"],
];
const percent = (p) => `${(100 * p).toFixed(0)} %`;
const words = (label) =>
  label === null || label === undefined
    ? ""
    : Array.isArray(label)
      ? label.map((one) => (Array.isArray(one) ? one[0] : one)).join(", ") || "no class"
      : label;

export class App {
  // ask(message, act): send a message to the kernel and call act(answer, pictures); null in a page without a kernel
  constructor(el, state, ask) {
    this.state = state;
    this.send = ask;
    this.tab = "one";
    this.selected = new Set(); // classes of the item, for several classes
    this.active = state.classes[0]; // class of the next box, and of the batch
    this.urls = [];
    this.root = document.createElement("div");
    this.root.className = "msnb-view msnb-label";
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "labelling");
    const tabs = Object.entries(TABS)
      .filter(([name]) => name === "one" || state.kind !== "boxes")
      .map(([name, text]) => `<button type="button" role="tab" data-tab="${name}">${text}</button>`);
    this.root.innerHTML =
      `<style>${frame}${own}</style><header></header><div class="tabs" role="tablist">${tabs.join("")}` +
      `<button type="button" data-do="keys" aria-label="keys">?</button></div><div class="columns">` +
      `<main class="stage" role="tabpanel"></main><aside></aside></div>` +
      `<p class="said" role="status" aria-live="polite"></p>`;
    el.append(this.root);
    keysOf(this.root, COMMON, KEYS[state.kind === "text" ? "class" : state.kind]);
    this.cleanup = new AbortController();
    const { signal } = this.cleanup,
      watch = new MutationObserver(() => this.theme());
    for (const one of [document.body, document.documentElement]) watch.observe(one, { attributes: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme(), { signal });
    signal.addEventListener("abort", () => watch.disconnect());
    this.theme();
    this.root.addEventListener("click", (event) => this.pressed(event.target.closest("button")));
    this.root.addEventListener("keydown", (event) => this.typed(event));
    this.update(state);
    this.show("one");
    this.root.dataset.ready = "1";
  }
  destroy() {
    clearTimeout(this.late);
    this.cleanup.abort();
    this.free();
    this.root.remove();
  }
  free() {
    for (const url of this.urls) URL.revokeObjectURL(url);
    this.urls = [];
  }
  theme() {
    this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
  }
  find(selector) {
    return this.root.querySelector(selector);
  }
  say(text) {
    this.find(".said").textContent = text;
  }
  url(bytes) {
    this.urls.push(URL.createObjectURL(new Blob([bytes], { type: "image/png" })));
    return this.urls.at(-1);
  }

  // ------------------------------------------------------------------ the kernel
  ask(message, act) {
    if (!this.send || this.isWaiting) return;
    this.isWaiting = true;
    this.late = setTimeout(() => this.say(LATE), PATIENCE);
    this.send(message, (answer, pictures) => {
      this.isWaiting = false;
      clearTimeout(this.late);
      this.say(answer.problem ?? "");
      if (!answer.problem) act(answer, pictures);
      if (this.isTabPending) this.show(this.tab);
    });
  }
  update(state) {
    this.state = state;
    const { keep, error, featuresRead, features, strategy } = state,
      [labelled, total, read] = [state.labelled, state.total, featuresRead].map((n) => n.toLocaleString("en"));
    setHtml(
      this.find("header"),
      `<b>${labelled} of ${total} items labelled</b> ` +
        `<span class="soft">in ${escape(keep)}; strategy ${escape(strategy)}</span>` +
        (featuresRead < state.total && !error ? `<p class="soft">computing features: ${read} of ${total}</p>` : "") +
        (error ? `<p class="wrong">The learning has stopped: ${escape(error)}</p>` : ""),
    );
    const most = Math.max(1, ...state.counts),
      rows = state.classes.map(
        (name, i) =>
          `<tr><th scope="row">${escape(name)}</th><td>` +
          `<i class="bar" style="width:${(100 * state.counts[i]) / most}%"></i></td>` +
          `<td class="count">${state.counts[i]}</td></tr>`,
      );
    setHtml(
      this.find("aside"),
      `<h3>Accuracy</h3>${drawCurve(state.curve)}<p class="advice">${escape(state.curve.advice)}</p>` +
        `<p class="soft">A linear classifier learns from ${escape(features)}.</p>` +
        (this.send && state.canTrain
          ? `<p><button type="button" class="plain" data-do="train"${state.isTraining ? " disabled" : ""}>` +
            `${state.isTraining ? "training …" : "train the network"}</button></p>`
          : "") +
        `<h3>Labels</h3><div class="counts"><table><tbody>${rows.join("")}</tbody></table></div>`,
    );
  }

  // ------------------------------------------------------------------ actions
  show(tab) {
    this.tab = tab;
    for (const one of this.root.querySelectorAll("[data-tab]"))
      one.setAttribute("aria-selected", one.dataset.tab === tab);
    const stage = this.find(".stage");
    stage.setAttribute("aria-label", TABS[tab]);
    if (!this.send) {
      stage.innerHTML = `<p class="soft">Run the cell of this page to go on labelling.</p>`;
      return;
    }
    stage.innerHTML = `<p class="soft">…</p>`;
    this.isTabPending = this.isWaiting; // the tab is asked for after the present answer
    if (tab === "one") this.ask({ do: "next" }, (...answer) => this.showItem(...answer));
    else if (tab === "batch") this.askBatch();
    else this.ask({ do: "faults" }, (...answer) => this.showFaults(...answer));
  }
  askBatch() {
    this.ask({ do: "batch", label: this.active }, (...answer) => this.showBatch(...answer));
  }
  pressed(button) {
    if (!button || button.disabled) return;
    const { tab, choose, pick, fault, label } = button.dataset;
    if (tab) this.show(tab);
    else if (choose !== undefined) this.choose(this.state.classes[+choose]);
    else if (pick !== undefined) button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
    else if (fault !== undefined) this.settle(+fault, JSON.parse(label));
    else this.act(button.dataset.do);
  }
  act(name) {
    if (name === "train") this.ask({ do: "train" }, () => this.say("The network is trained in the background."));
    else if (name === "enter") this.enter();
    else if (name === "undo") this.ask({ do: "undo" }, (...answer) => this.showItem(...answer));
    else if (name === "skip" && this.item)
      this.ask({ do: "skip", items: [this.item.index] }, (...answer) => this.showItem(...answer));
  }
  typed(event) {
    const { key, target } = event;
    if (!this.send || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("input, textarea, select")) return;
    const onButton = target.matches("button") && (key === "Enter" || key === " ");
    if (onButton && !target.matches("[data-choose]")) return; // the browser presses the button
    if (this.press(key, event.shiftKey)) {
      event.preventDefault();
      event.stopPropagation(); // the notebook has shortcuts of its own
    }
  }
  press(key, isShifted) {
    const { classes, kind } = this.state;
    if (/^[1-9]$/.test(key)) {
      if (+key > classes.length) return false;
      this.choose(classes[+key - 1]);
    } else if (key === "Enter") this.enter();
    else if (this.tab !== "one") return false;
    else if (this.boxes?.press(key, isShifted)) return true;
    else if (key === "s") this.act("skip");
    else if (key === "z") this.act("undo");
    else if (key === "0" && kind === "classes") this.answer([]);
    else return false;
    return true;
  }
  choose(name) {
    const { kind } = this.state;
    if (this.tab === "batch") {
      this.active = name;
      this.askBatch();
    } else if (this.tab !== "one" || !this.item) return;
    else if (kind === "class" || kind === "text") this.answer(name);
    else if (kind === "boxes") this.active = name;
    else if (this.selected.has(name)) this.selected.delete(name);
    else this.selected.add(name);
    this.mark();
  }
  mark() {
    for (const button of this.root.querySelectorAll("[data-choose]")) {
      const name = this.state.classes[+button.dataset.choose];
      const isOn = this.tab === "one" && this.state.kind === "classes" ? this.selected.has(name) : this.active === name;
      if (button.hasAttribute("aria-pressed")) button.setAttribute("aria-pressed", isOn);
    }
  }
  enter() {
    if (this.tab === "batch") this.answerBatch();
    else if (this.tab !== "one" || !this.item) return;
    else if (this.boxes) this.answer(this.boxes.boxes);
    else if (this.selected.size) this.answer(this.state.classes.filter((name) => this.selected.has(name)));
    else if (this.item.suggestion === null) this.say("There is no suggestion for this item: select a class.");
    else this.answer(this.item.suggestion);
  }
  answer(label) {
    const { index, drawn } = this.item;
    this.ask({ do: "answer", items: [index], drawn, label }, (...answer) => this.showItem(...answer));
  }
  answerBatch() {
    const picked = [...this.root.querySelectorAll("[data-pick][aria-pressed=true]")].map((one) => +one.dataset.pick);
    if (!picked.length) return;
    const label = this.state.kind === "classes" ? [this.active] : this.active;
    this.ask({ do: "answer", items: picked, drawn: "batch", label }, () => this.askBatch());
  }
  settle(index, label) {
    this.ask({ do: "answer", items: [index], label }, () => this.show("faults"));
  }

  // ------------------------------------------------------------------ drawing
  buttons(isPressable) {
    return this.state.classes
      .map(
        (name, i) =>
          `<button type="button" class="plain c${i % 5}" data-choose="${i}"` +
          `${isPressable ? ' aria-pressed="false"' : ""}>${i < 9 ? `<kbd>${i + 1}</kbd> ` : ""}${escape(name)}` +
          `</button>`,
      )
      .join("");
  }
  content(item, bytes) {
    if (item.text !== undefined) return `<blockquote>${escape(item.text)}</blockquote>`;
    if (!bytes) return `<p class="wrong">${escape(item.problem)}</p>`;
    const scale = Math.max(1, Math.min(10, Math.floor(280 / Math.max(item.width, item.height))));
    return (
      `<div class="field"><img src="${this.url(bytes)}" alt="${escape(item.name)}" width="${item.width * scale}" ` +
      `height="${item.height * scale}"></div>`
    );
  }
  showItem({ item }, pictures) {
    const stage = this.find(".stage"),
      { kind } = this.state,
      hadFocus = this.root.contains(document.activeElement);
    if (this.tab !== "one") return;
    this.free();
    this.item = item;
    this.boxes = null;
    this.selected = new Set(kind === "classes" ? (item?.label ?? []) : []);
    if (!item) {
      stage.innerHTML =
        `<p>Every item is labelled or skipped.</p><div class="choices"><button type="button" class="plain" ` +
        `data-do="undo"><kbd>z</kbd> back</button></div>`;
      return;
    }
    const hint =
      item.suggestion !== null
        ? `<button type="button" class="plain" data-do="enter"><kbd>Enter</kbd> ${escape(words(item.suggestion))}` +
          `</button> <span class="soft">suggested, ${percent(item.probability)}</span>`
        : `<span class="soft">` +
          `${item.drawn === "held-out" ? "measures the accuracy: no suggestion" : "no suggestion yet"}</span>`;
    const takes =
      kind === "classes" || kind === "boxes"
        ? `<button type="button" class="plain" data-do="enter"><kbd>Enter</kbd> take ` +
          `${kind === "boxes" ? "the boxes" : "the classes"}</button>`
        : "";
    stage.innerHTML =
      `${this.content(item, pictures[0])}<p class="name">${escape(item.name)}` +
      `${item.label === null ? "" : `, labelled ${escape(words(item.label))}`}</p>` +
      `<p class="hint">${kind === "boxes" ? `<span class="soft">draw with the pointer, or press b</span>` : hint}</p>` +
      `<div class="choices">${this.buttons(kind === "classes" || kind === "boxes")}</div>` +
      `<div class="choices">${takes}` +
      `<button type="button" class="plain" data-do="skip"><kbd>s</kbd> skip</button>` +
      `<button type="button" class="plain" data-do="undo"><kbd>z</kbd> back</button></div>`;
    if (kind === "boxes" && pictures[0])
      this.boxes = new Boxes(
        stage.querySelector(".field"),
        item,
        this.state.classes,
        () => this.active,
        () => this.say(`${this.boxes.boxes.length} boxes`),
      );
    this.mark();
    if (hadFocus && !this.root.contains(document.activeElement)) this.root.focus({ preventScroll: true });
  }
  thumbnail(item, pictures) {
    return item.text !== undefined
      ? `<span class="text">${escape(item.text)}</span>`
      : item.picture < 0
        ? `<span class="wrong">${escape(item.problem)}</span>`
        : `<img src="${this.url(pictures[item.picture])}" alt="${escape(item.name)}">`;
  }
  showBatch({ items }, pictures) {
    if (this.tab !== "batch") return;
    const hadFocus = this.root.contains(document.activeElement);
    this.free();
    this.find(".stage").innerHTML =
      `<div class="choices">${this.buttons(true)}</div>` +
      (items.length
        ? `<p>Most likely <b>${escape(this.active)}</b>; click on those that are not.</p><div class="grid">${items
            .map(
              (item) =>
                `<button type="button" data-pick="${item.index}" aria-pressed="true" ` +
                `title="${escape(item.name)}">${this.thumbnail(item, pictures)}</button>`,
            )
            .join(
              "",
            )}</div><div class="choices"><button type="button" class="plain" data-do="enter"><kbd>Enter</kbd> ` +
          `all these are ${escape(this.active)}</button></div>`
        : `<p class="soft">Label some items one by one first: the classifier has not learned yet, or nothing is ` +
          `left.</p>`);
    this.mark();
    if (hadFocus && !this.root.contains(document.activeElement)) this.root.focus({ preventScroll: true });
  }
  showFaults({ items, faults }, pictures) {
    if (this.tab !== "faults") return;
    this.free();
    const rows = items.map((item) => {
      const button = (label, text) =>
        `<button type="button" class="plain" data-fault="${item.index}" ` +
        `data-label="${escape(JSON.stringify(label))}">${text} ${escape(words(label))}</button>`;
      return (
        `<li>${this.thumbnail(item, pictures)}<div><p class="name">${escape(item.name)}: labelled ` +
        `<b>${escape(words(item.label))}</b> (${percent(item.probability)})</p>` +
        `${button(item.suggestion, "change to")} ${button(item.label, "keep")}</div></li>`
      );
    });
    this.find(".stage").innerHTML = rows.length
      ? `<p>${faults} suspected; a classifier that has not seen the item is confident of another label.</p>` +
        `<ul class="faults">${rows.join("")}</ul>`
      : `<p class="soft">No label is suspected. At least 10 answers are needed.</p>`;
  }
}
