// The legend above the charts: a button per run shows and hides it; hovering highlights its curves.
import { escape } from "../../src/escape.js";
import { roving } from "../../src/roving.js";

export class Legend {
  constructor(app, box) {
    this.app = app;
    this.box = box;
    this.settle = roving(box, "button");
    box.addEventListener("click", (event) => this.toggle(event.target.closest("button")?.dataset.run));
    box.addEventListener("dblclick", (event) => this.alone(event.target.closest("button")?.dataset.run));
    box.addEventListener("keydown", (event) => {
      if (event.key !== "o" || event.ctrlKey || event.metaKey || event.altKey) return;
      this.alone(event.target.closest("button")?.dataset.run);
      event.preventDefault();
      event.stopPropagation();
    });
    const lit = (event) => app.light(event.target.closest?.("button")?.dataset.run ?? null);
    box.addEventListener("pointerover", lit);
    box.addEventListener("pointerleave", () => app.light(null));
    box.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && lit(event));
    box.addEventListener("focusout", () => app.light(null));
    // The selection of another view of the page; empty means all runs.
    window.addEventListener(
      "msnb:runs",
      ({ detail }) => {
        if (detail?.from === app || !Array.isArray(detail?.ids)) return;
        const ids = new Set(detail.ids);
        const some = app.runs.some(({ id }) => ids.has(id));
        app.hidden = new Set(some ? app.runs.map(({ id }) => id).filter((id) => !ids.has(id)) : []);
        this.draw();
        app.refill();
      },
      { signal: app.cleanup.signal },
    );
  }

  draw(anew = false) {
    const { app, box } = this,
      names = app.runs.map(({ id, name, state }) => `${id}\0${name}\0${state}`).join();
    box.hidden = app.runs.length < 2;
    if (names === this.drawn && !anew) return this.press(); // the same buttons: a press on one may be half of two
    this.drawn = names;
    const focused = document.activeElement?.closest?.(".runs button")?.dataset.run;
    box.innerHTML = app.runs
      .map(({ id, name, state }, i) => {
        const told =
          state === "finished" ? "" : ` <span class="${state.includes(",") ? "bad" : "soft"}">${escape(state)}</span>`;
        return (
          `<button type="button" data-run="${escape(id)}" ` +
          `title="show or hide this run; a double click shows it alone, or all again">` +
          `<svg width="22" height="10" aria-hidden="true"><line x1="1" x2="21" y1="5" y2="5" ` +
          `stroke="${app.colour(i)}" stroke-width="3" stroke-dasharray="${app.dash(i).join(" ")}"/></svg>` +
          `${escape(name)}${told}</button>`
        );
      })
      .join("");
    this.press();
    this.settle();
    if (focused) [...box.children].find((one) => one.dataset.run === focused)?.focus();
  }

  press() {
    for (const one of this.box.children) one.setAttribute("aria-pressed", !this.app.hidden.has(one.dataset.run));
  }

  toggle(id) {
    const { app } = this;
    if (id === undefined) return;
    if (!app.hidden.delete(id)) app.hidden.add(id);
    this.changed();
  }
  // Show only this run, or all if only this one is shown.
  alone(id) {
    const { app } = this,
      others = app.runs.map((run) => run.id).filter((one) => one !== id);
    if (id === undefined) return;
    app.hidden = new Set(!app.hidden.has(id) && others.every((one) => app.hidden.has(one)) ? [] : others);
    this.changed();
  }
  changed() {
    const { app } = this;
    this.draw();
    app.refill();
    const ids = app.runs.map((run) => run.id).filter((one) => !app.hidden.has(one));
    window.dispatchEvent(new CustomEvent("msnb:runs", { detail: { ids, from: app } }));
  }
}
