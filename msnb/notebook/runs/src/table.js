// The runs that are picked as a table of any length: only the rows in sight are drawn. It is one Tab stop; the arrows
// go from run to run, and the heads are reached from the first row upwards.
import { escape } from "../../src/escape.js";
import { roving } from "../../src/roving.js";

const ROW = 27,
  PAGE = 10,
  LETTER = 7.3; // pixels of one at this size, about
const HIGH = 400; // pixels that are in sight at most
const NAME = "name";

export class Table {
  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.by = app.state.by;
    this.down = app.state.down;
    this.element = document.createElement("div");
    this.element.className = "runs";
    this.element.innerHTML =
      `<div class="scroll"><div class="grid" role="grid" aria-label="Runs" aria-multiselectable="true">` +
      `<div class="head" role="row" aria-rowindex="1"></div>` +
      `<div class="body" role="rowgroup" tabindex="0" aria-label="runs, arrows go from one to the next"></div>` +
      `<p class="soft none"></p></div></div>`;
    this.empty = this.element.querySelector(".none");
    this.drawn = new Map();
    this.scroll = this.element.querySelector(".scroll");
    this.grid = this.element.querySelector(".grid");
    this.head = this.element.querySelector(".head");
    this.body = this.element.querySelector(".body");
    this.current = 0; // place of the run that the keyboard stands on
    this.standing = null; // and its name, once the reader has chosen it: runs come and go, and the keyboard stays
    this.id = `${app.id}-run`;
    this.top = 0; // asked when it changes: each question while a brush moves would lay out the page anew
    this.scroll.addEventListener(
      "scroll",
      () => {
        this.top = this.scroll.scrollTop;
        this.rows();
      },
      { passive: true },
    );
    this.head.addEventListener("click", (e) => {
      const head = e.target.closest("[data-by]");
      if (head) this.sortBy(head.dataset.by);
    });
    this.head.addEventListener(
      "keydown",
      (e) => {
        if (e.key !== "ArrowDown") return;
        e.preventDefault();
        e.stopPropagation();
        this.body.focus();
      },
      true,
    );
    this.settled = roving(this.head, "button");
    this.body.addEventListener("click", (e) => this.click(e));
    this.body.addEventListener("pointermove", (e) => {
      const row = e.target.closest("[data-run]");
      this.store.point(row ? +row.dataset.run : -1);
    });
    this.body.addEventListener("pointerleave", () => this.store.point(-1));
    this.body.addEventListener("focus", () => this.stand(this.current, false));
    this.body.addEventListener("keydown", (e) => this.key(e));
  }
  columns() {
    const { store, app } = this;
    return app.columns.map((key) => store.of.get(key)).filter(Boolean);
  }
  sortBy(key) {
    const column = this.store.of.get(key);
    this.down = key === this.by ? !this.down : Boolean(column) && column.kind !== "words";
    this.by = key;
    this.app.set({ by: this.by, down: this.down });
    this.settle();
    [...this.head.querySelectorAll("button")].find((b) => b.dataset.by === key)?.focus();
    this.app.say(`sorted by ${column?.name ?? "name"}, ${this.down ? "largest" : "smallest"} first`);
  }
  // Columns, order or runs have changed.
  settle() {
    const { store } = this,
      columns = this.columns(),
      long = (column) => {
        let most = column.name.length + 2;
        const many = Math.min(store.count, 400);
        for (let i = 0; i < many; i++) most = Math.max(most, column.text(i).length);
        return Math.min(Math.max(most, 5), 26);
      },
      longest = Math.min(34, Math.max(8, ...store.names.slice(0, 400).map((name) => name.length)));
    this.made = [
      { key: "chosen", title: "✓", wide: 30 },
      { key: "star", title: "★", wide: 32, by: "star" },
      { key: NAME, title: "run", wide: longest * LETTER + 22, by: NAME },
      ...columns.map((column) => ({
        key: column.key,
        title: column.name,
        wide: long(column) * LETTER + 20,
        by: column.key,
        column,
      })),
      ...(store.notes.some(Boolean) ? [{ key: "note", title: "note", wide: 220, by: "note" }] : []),
    ];
    const wide = this.made.reduce((sum, one) => sum + one.wide, 0);
    this.grid.style.width = `max(100%, ${wide}px)`;
    this.head.innerHTML = this.made
      .map(({ key, title, wide: width, by, column }) => {
        const on = by && by === this.by,
          kind = column ? `${column.kind} ${column.group}` : key;
        return (
          `<span role="columnheader" class="${kind}" style="width:${width}px" ` +
          `aria-sort="${on ? (this.down ? "descending" : "ascending") : "none"}">${
            by
              ? `<button data-by="${escape(by)}" title="sort by ${escape(title)}"><bdi>${escape(title)}</bdi>` +
                `${on ? (this.down ? " ↓" : " ↑") : ""}</button>`
              : `<span title="ticked: compared">${title}</span>`
          }</span>`
        );
      })
      .join("");
    this.settled();
    this.sort();
  }
  sort() {
    const { store } = this,
      column = store.of.get(this.by),
      side = this.down ? -1 : 1,
      value = column
        ? column.kind === "words"
          ? (i) => column.text(i)
          : (i) => column.values[i]
        : { star: (i) => store.star[i], note: (i) => store.notes[i] }[this.by];
    this.order = [...store.picked];
    if (value)
      this.order.sort((a, b) => {
        const [x, y] = [value(a), value(b)],
          [noX, noY] = [x === "" || Number.isNaN(x), y === "" || Number.isNaN(y)];
        if (noX || noY) return noX - noY || a - b; // what has none stands last, whichever way
        return (x < y ? -1 : x > y ? 1 : 0) * side || a - b;
      });
    else this.order.sort((a, b) => store.names[a].localeCompare(store.names[b], "en", { numeric: true }) * side);
    this.grid.setAttribute("aria-rowcount", this.order.length + 1);
    this.body.style.height = `${Math.max(this.order.length, 1) * ROW}px`;
    // The height is that of all runs, so that the page below does not move while a brush moves.
    this.scroll.style.setProperty("--rows", Math.max(store.names.length, 3));
    const at = this.order.findIndex((i) => store.names[i] === this.standing); // -1: it is not among the picked
    this.current = Math.max(0, Math.min(at < 0 ? this.current : at, this.order.length - 1));
    this.rows();
  }
  rows() {
    const { store, app } = this,
      from = Math.max(0, Math.floor(Math.min(this.top, this.order.length * ROW - HIGH) / ROW) - 2),
      to = Math.min(this.order.length, from + Math.ceil(HIGH / ROW) + 4);
    const before = this.drawn,
      rows = [];
    this.drawn = new Map(); // run -> its row; one that stays is the same element, so that no press on it is lost
    for (let at = from; at < to; at++) {
      const i = this.order[at],
        rank = store.chosen.indexOf(i),
        { row, html } = before.get(i) ?? { row: document.createElement("div"), html: null },
        cells = this.made.map((one) => this.cell(one, i, rank)).join("");
      before.delete(i);
      if (cells !== html) row.innerHTML = cells;
      this.drawn.set(i, { row, html: cells });
      row.id = `${this.id}-${i}`;
      row.dataset.run = i;
      row.setAttribute("role", "row");
      row.setAttribute("aria-rowindex", at + 2);
      row.setAttribute("aria-selected", String(rank >= 0));
      row.className = `row${at === this.current ? " current" : ""}${i === store.hover ? " hover" : ""}${
        store.hidden[i] ? " away" : ""
      }`;
      row.style.top = `${at * ROW}px`;
      rows.push(row);
    }
    for (const { row } of before.values()) row.remove();
    rows.forEach((row, k) => {
      const there = this.body.children[k];
      if (there !== row) this.body.insertBefore(row, there ?? null); // who reads the page reads it in this order
    });
    this.empty.textContent = this.order.length ? "" : app.nothing();
    const here = this.order[this.current];
    if (here !== undefined) this.body.setAttribute("aria-activedescendant", `${this.id}-${here}`);
    else this.body.removeAttribute("aria-activedescendant");
  }
  // Highlight the row under the pointer. Rows are not created again, because a press on one would get lost.
  light() {
    for (const [i, { row }] of this.drawn) row.classList.toggle("hover", i === this.store.hover);
  }
  cell({ key, wide, column }, i, rank) {
    const { store, app } = this,
      begin = `<span role="gridcell" style="width:${wide}px" class="`;
    if (column) {
      const bad = column.kind === "number" && !column.none[i] && !Number.isFinite(column.values[i]);
      if (column.key === "run:state") {
        const state = column.text(i);
        // "finished, loss is NaN" counts as failed.
        return `${begin}state ${escape(state.includes(",") ? "failed" : state)}"><i></i>${escape(state)}</span>`;
      }
      const text = column.text(i);
      return (
        `${begin}${column.kind}${bad ? " bad" : ""}"` +
        `${column.kind === "words" && text.length > 20 ? ` title="${escape(text)}"` : ""}>` +
        `<bdi>${escape(text)}</bdi></span>`
      );
    }
    if (key === "chosen")
      return (
        `${begin}chosen" data-act="choose"><i class="box" aria-hidden="true"` +
        `${rank >= 0 ? ` style="background:${app.colourOf(rank)}"` : ""}>${rank >= 0 ? "✓" : ""}</i></span>`
      );
    if (key === "star")
      return (
        `${begin}star${store.star[i] ? " on" : ""}" data-act="star" ` +
        `aria-label="${store.star[i] ? "starred" : "not starred"}">${store.star[i] ? "★" : "☆"}</span>`
      );
    if (key === NAME)
      return `${begin}name" title="${escape(store.names[i])}"><bdi>${escape(store.names[i])}</bdi></span>`;
    return `${begin}note" title="${escape(store.notes[i])}"><bdi>${escape(store.notes[i])}</bdi></span>`;
  }
  click(e) {
    const row = e.target.closest("[data-run]"),
      act = e.target.closest("[data-act]")?.dataset.act;
    if (!row) return;
    const i = +row.dataset.run;
    this.current = this.order.indexOf(i);
    this.standing = this.store.names[i];
    if (act === "star") this.app.acts.mark([i], { star: !this.store.star[i] });
    else this.app.choose(i);
  }
  stand(at, say = true) {
    if (!this.order.length) return;
    this.current = Math.max(0, Math.min(this.order.length - 1, at));
    this.standing = this.store.names[this.order[this.current]];
    const top = this.current * ROW,
      high = this.scroll.clientHeight - this.head.offsetHeight;
    if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
    else if (top + ROW > this.scroll.scrollTop + high) this.scroll.scrollTop = top + ROW - high;
    this.rows();
    if (say) this.store.point(this.order[this.current]);
  }
  key(e) {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const here = this.order[this.current],
      to = {
        ArrowDown: this.current + 1,
        ArrowUp: this.current - 1,
        PageDown: this.current + PAGE,
        PageUp: this.current - PAGE,
        Home: 0,
        End: this.order.length - 1,
      }[e.key];
    if (e.key === "ArrowUp" && this.current === 0) this.head.querySelector('button[tabindex="0"]')?.focus();
    else if (to !== undefined) this.stand(to);
    else if (e.key === "ArrowLeft" || e.key === "ArrowRight")
      this.scroll.scrollLeft += e.key === "ArrowLeft" ? -120 : 120;
    else if (here === undefined) return;
    else if (e.key === " " || e.key === "Enter") this.app.choose(here);
    else if (e.key === "s") this.app.acts.mark([here], { star: !this.store.star[here] });
    else if (e.key === "h") this.app.acts.mark([here], { hidden: !this.store.hidden[here] });
    else if (e.key === "n") this.app.acts.askNote([here]);
    else if (e.key === "Delete") this.app.acts.askDelete([here]);
    else return;
    e.preventDefault();
    e.stopPropagation(); // the notebook has shortcuts of its own
  }
}

// The text of a run for a screen reader.
export const told = (store, i, columns) =>
  [store.names[i], ...columns.map((column) => `${column.name} ${column.text(i) || "none"}`)].slice(0, 6).join(", ");
