// The tab of curves: settings of all charts, and charts grouped by prefix. Only visible charts are drawn.
import { escape } from "../../src/escape.js";
import { roving } from "../../src/roving.js";
import { Card, NOTHING } from "./card.js";
import { counted, filterField, matcher } from "./filter.js";
import { AXES } from "./format.js";

export class Scalars {
  constructor(app, panel, wanted) {
    this.app = app;
    this.panel = panel;
    this.wanted = wanted; // which tags are of this tab
    this.cards = new Map();
    this.byElement = new WeakMap();
    this.waiting = true; // until the browser has said which charts are in sight
    this.seen = new IntersectionObserver((entries) => this.scrolled(entries), { rootMargin: "120px" });
    this.skeleton();
    this.fill();
  }
  close() {
    this.seen.disconnect();
    for (const card of this.cards.values()) this.app.gone(card);
  }

  skeleton() {
    const { app } = this;
    this.panel.innerHTML =
      `<div class="tools">${filterField(app)}` +
      `<label>smooth <input type="range" min="0" max="0.99" step="0.01" data-set="smoothing" ` +
      `value="${app.smoothing}"><output>${app.smoothing}</output></label>` +
      `<label>along <select data-set="axis">${Object.entries(AXES)
        .map(([key, text]) => `<option value="${key}"${key === app.axis ? " selected" : ""}>${text}</option>`)
        .join("")}</select></label>` +
      `<label><input type="checkbox" data-set="log"${app.log ? " checked" : ""}> log</label>` +
      `<label title="scales leave out the few values that stand far from all others"><input type="checkbox" ` +
      `data-set="outliers"${app.outliers ? "" : " checked"}> no outliers</label>` +
      `<span class="soft count" role="status"></span></div><div class="groups"></div>`;
    this.panel.oninput = (event) => this.set(event.target);
    const box = this.panel.querySelector(".groups");
    box.addEventListener("click", (event) => this.pressed(event));
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener(
      "toggle",
      (event) => {
        app.closed[event.target.open ? "delete" : "add"](event.target.dataset.group);
        this.settle?.();
      },
      true,
    );
    this.box = box;
  }

  set(field) {
    const { app } = this,
      name = field.dataset.set;
    if (name === "smoothing") {
      app.smoothing = +field.value;
      field.nextElementSibling.textContent = field.value;
    } else if (name === "log") app.log = field.checked;
    else if (name === "outliers") app.outliers = !field.checked;
    else if (name === "axis") {
      app.setAxis(field.value);
      for (const card of this.cards.values()) card.leave();
    } else if (name === "filter") {
      app.filter = field.value;
      return this.fill();
    } else return;
    app.redrawAll();
  }

  // Update groups and charts; charts that stay are moved, not created again.
  fill() {
    const { app } = this,
      focused = document.activeElement,
      all = app.tags.filter(this.wanted),
      fits = matcher(app.filter),
      tags = fits ? all.filter(fits) : all,
      groups = new Map();
    const joined = [...app.joined].filter((tag) => all.includes(tag));
    if (joined.length > 1) groups.set("together", [joined]);
    for (const tag of tags) {
      const at = tag.indexOf("/"),
        name = at > 0 ? tag.slice(0, at) : "";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push([tag]);
    }
    const made = document.createDocumentFragment(),
      kept = new Set();
    for (const [group, lists] of groups) {
      const part = document.createElement("details"),
        grid = document.createElement("div");
      part.open = !app.closed.has(group) || (!group && groups.size === 1); // the only one has no head to open it by
      part.dataset.group = group;
      const count = `<span class="soft">${lists.length}</span>`;
      part.innerHTML = `<summary><b>${escape(group || "no prefix")}</b> ${count}</summary>`;
      grid.className = "grid";
      for (const list of lists) {
        const card = this.card(list, group);
        kept.add(card.key);
        grid.append(card.el);
      }
      part.append(grid);
      made.append(part);
    }
    for (const [key, card] of this.cards)
      if (!kept.has(key)) {
        this.seen.unobserve(card.el);
        this.cards.delete(key);
        app.gone(card);
      }
    this.box.classList.toggle("one", kept.size === 1);
    this.box.replaceChildren(made);
    if (this.box.contains(focused)) focused.focus({ preventScroll: true }); // what is moved loses it
    this.panel.querySelector(".count").textContent = counted(app, tags.length, all.length, "chart");
    this.settle ??= roving(this.box, ".card");
    this.settle();
    this.waiting &&= this.cards.size > 0;
  }

  card(tags, group) {
    const key = tags.join("\0");
    let card = this.cards.get(key);
    if (!card) {
      const name = tags.length > 1 || !group ? tags.join(" + ") : tags[0].slice(group.length + 1);
      card = new Card(this.app, tags, name);
      this.cards.set(key, card);
      this.byElement.set(card.el, card);
      this.seen.observe(card.el);
    }
    return card;
  }
  of(el) {
    const found = el?.closest?.(".card");
    return found && this.byElement.get(found);
  }

  scrolled(entries) {
    this.waiting = false;
    this.app.redraw(NOTHING);
    for (const entry of entries) {
      const card = this.of(entry.target);
      if (!card) continue;
      card.visible = entry.isIntersecting;
      if (card.visible) this.app.redraw(card);
    }
  }

  pressed(event) {
    const what = event.target.closest("[data-do]")?.dataset.do,
      card = this.of(event.target);
    if (what && card) this.act(card, what);
  }
  act(card, what) {
    if (what === "join") {
      for (const tag of card.tags)
        if (this.app.joined.has(tag)) this.app.joined.delete(tag);
        else this.app.joined.add(tag);
      this.fill();
      this.app.say(`${this.app.joined.size} tags in one chart`);
      this.app.redrawAll();
    } else if (what === "limits") card.askLimits();
    else card[what]?.();
  }
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.classList?.contains("card")) return;
    const card = this.of(event.target),
      shape = card.shape;
    const middle = () => {
      const centre = card.at ?? (shape.x0 + shape.x1) / 2,
        half = (shape.x1 - shape.x0) / 4;
      card.zoom({ x0: centre - half, x1: centre + half });
    };
    const act = {
      Enter: () => card.large(),
      "+": () => shape && middle(),
      "-": () => card.back(),
      Backspace: () => card.back(),
      0: () => card.reset(),
      ".": () => card.step(1),
      ",": () => card.step(-1),
      t: () => card.askLimits(),
      c: () => this.act(card, "join"),
      e: () => card.csv(),
      Escape: () => card.leave(),
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation(); // the notebook has shortcuts of its own
  }
}
