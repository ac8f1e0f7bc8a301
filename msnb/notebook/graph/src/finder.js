// The search box and the filter by type: matches, their highlighting in each pane, and the position among them.
import { census } from "./colour.js";
import { Search, written } from "./search.js";
import { escape } from "../../src/escape.js";

const LISTED = 50; // results below the box

export class Finder {
  constructor(app) {
    this.app = app;
    const $ = (q) => app.root.querySelector(q);
    this.input = $(".find input");
    this.hits = $(".hits");
    this.results = $(".results");
    this.types = $(".types");
    this.searches = new Map();
    this.wire();
  }
  wire() {
    const on = this.app.on;
    on(this.types, "change", () => {
      this.lookUp();
      this.results.hidden = true;
      this.app.said.textContent = this.matches ? `${this.matches.length} nodes` : "all nodes";
    });
    on(this.input, "input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => {
        this.typing = 0;
        this.lookUp();
      }, 90);
    });
    on(this.input, "keydown", (e) => this.key(e));
    on(this.input, "focus", () => {
      if (this.matches?.length) this.results.hidden = false;
    });
    on(this.input, "blur", () =>
      setTimeout(() => {
        this.results.hidden = true;
      }, 150),
    );
    on(this.results, "pointerdown", (e) => {
      const at = e.target.closest("[data-hit]");
      if (at) {
        e.preventDefault();
        this.goTo(+at.dataset.hit);
      }
    });
  }

  // The visible stages have changed.
  renew() {
    this.searches = new Map();
    this.offerTypes();
    if (this.asked) this.lookUp();
  }
  offerTypes() {
    const was = this.types.value,
      option = (value, text) => `<option value="${escape(value)}">${escape(text)}</option>`;
    this.types.innerHTML =
      option("", "all types") +
      census(this.app.stage)
        .map(
          ([name, ops]) =>
            `<optgroup label="${escape(name)}">${
              ops.length > 1 ? option(`kind:${name}`, `all ${ops.reduce((a, o) => a + o[1], 0)}: ${name}`) : ""
            }${ops.map(([op, n]) => option(`op:${op}`, `${op} (${n})`)).join("")}</optgroup>`,
        )
        .join("");
    this.types.value = [...this.types.options].some((o) => o.value === was) ? was : "";
  }
  get type() {
    const at = this.types.value.indexOf(":");
    return at < 0 ? null : [this.types.value.slice(0, at), this.types.value.slice(at + 1)];
  }
  get asked() {
    return !!(this.input.value || this.type);
  }

  lookUp() {
    const { app } = this,
      { stage } = app,
      search = this.searchIn(stage);
    this.matches = search.find(this.input.value, this.type);
    this.soft = false;
    this.at = -1;
    this.hits.textContent = this.matches ? `${this.matches.length}` : "";
    const first = (this.matches || []).slice(0, LISTED);
    this.results.innerHTML =
      first
        .map(
          (id, i) =>
            `<div role="option" data-hit="${i}">${escape(stage.op(id))} ${escape(written(stage, id))}` +
            `<small>${escape(stage.path(id).match(/-([^-/]*)$/)?.[1] ?? "")} %${stage.number(id)}</small></div>`,
        )
        .join("") +
      (this.matches?.length > LISTED ? `<div><small>and ${this.matches.length - LISTED} more</small></div>` : "") +
      (this.matches && !this.matches.length
        ? `<div><small>${escape(search.problem || "nothing found")}</small></div>`
        : "");
    this.results.hidden =
      !this.matches || (document.activeElement !== this.input && app.root.getRootNode().activeElement !== this.input);
    app.refresh();
  }
  searchIn(stage) {
    let made = this.searches.get(stage);
    if (!made) this.searches.set(stage, (made = new Search(stage)));
    return made;
  }
  // Highlight nodes that another tool names: a line of the source, the notebook's cursor.
  light(ids) {
    const { app } = this,
      { pane } = app;
    this.matches = ids.length ? ids : undefined;
    this.at = -1;
    this.input.value = "";
    this.results.hidden = true;
    this.hits.textContent = ids.length ? `${ids.length}` : "";
    this.soft = true; // beside other work: nothing is dimmed for it
    app.refresh();
    const shown = new Set(ids.map((id) => pane.layout.standIn(id)));
    if (![...shown].some((id) => pane.place(id) && pane.inSight(pane.place(id))))
      for (const id of [...shown].slice(0, 1)) pane.bring(id);
  }
  ask(query) {
    this.input.value = query;
    this.lookUp();
    this.input.focus();
  }
  // Clear the search. Return false if there was none.
  clear() {
    if (!this.matches && !this.input.value) return false;
    this.input.value = this.types.value = "";
    this.lookUp();
    return true;
  }
  // The boxes of a pane that show the matches; null without a search.
  standIns(pane) {
    const { matches, app } = this;
    if (!matches) return null;
    const ids =
      pane === app.active
        ? matches
        : this.asked
          ? this.searchIn(pane.stage).find(this.input.value, this.type) || []
          : matches.flatMap((i) => app.diff?.get(app.stage)?.links.get(i) || []);
    return new Set(ids.map((id) => pane.layout.standIn(id)));
  }

  key(e) {
    const move = { ArrowDown: 1, ArrowUp: -1, Enter: e.shiftKey ? -1 : 1 }[e.key];
    if (e.key === "Escape") {
      this.input.value = "";
      this.lookUp();
      this.app.pane.svg.focus();
    } else if (move) {
      if (e.key === "Enter" && this.typing) {
        clearTimeout(this.typing);
        this.typing = 0;
        this.lookUp();
      }
      const count = Math.min(LISTED, this.matches?.length || 0);
      if (!count) return;
      this.goTo((this.at + move + count) % count);
    } else return;
    e.preventDefault();
  }
  goTo(at) {
    const { app } = this,
      id = this.matches[at];
    this.at = at;
    if (id === undefined) return;
    [...this.results.children].forEach((div, i) => div.setAttribute("aria-selected", String(i === at)));
    this.results.children[at]?.scrollIntoView({ block: "nearest" });
    this.hits.textContent = `${at + 1} / ${this.matches.length}`;
    app.pane.select(id, { show: true });
    app.said.textContent = `${app.stage.op(id)}, ${at + 1} of ${this.matches.length}`;
  }
}
