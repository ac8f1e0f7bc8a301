// Actions for the selected runs: compare, star, note, hide, delete. An action that cannot be undone asks first.
import { escape } from "../../src/escape.js";
import { runs } from "./format.js";

export class RunActions {
  constructor(app, box) {
    this.app = app;
    this.box = box;
  }
  draw() {
    if (this.asking) return;
    const { app, box } = this,
      many = app.store.chosen.length,
      can = app.host ? ["star", "note", "hide", "delete"] : [],
      html = many
        ? `<span>${many} ticked</span> ${["compare", ...can, "none"]
            .map((act) => `<button data-do="${act}">${act}</button>`)
            .join(" ")}`
        : `<span class="soft">Tick runs to compare${app.host ? ", star, note, hide or delete" : ""} them.</span>`;
    if (html === this.drawn) return;
    const keep = box.contains(document.activeElement) ? document.activeElement.dataset.do : null;
    box.innerHTML = this.drawn = html;
    if (keep) box.querySelector(`[data-do="${keep}"]`)?.focus();
  }
  // Run the action of a button on the ticked runs.
  act(name) {
    const { store } = this.app,
      { chosen } = store,
      all = (marks) => chosen.every((i) => marks[i]),
      acts = {
        none: () => store.chooseNone(),
        star: () => this.mark(chosen, { star: !all(store.star) }),
        hide: () => this.mark(chosen, { hidden: !all(store.hidden) }),
        note: () => this.askNote(chosen),
        delete: () => this.askDelete(chosen),
      };
    acts[name]?.();
  }

  mark(which, marks) {
    const { store, host } = this.app;
    if (!host) return this.app.say("Marks are kept by the kernel: run this cell first.");
    if (!which.length) return;
    const all = [...which];
    for (const i of all) store.mark(i, marks);
    host.ask({ mark: all.map((i) => store.names[i]), as: marks }).then((told) => this.complain(told));
  }
  complain(told) {
    const list = this.app.root.querySelector(".notes");
    list.querySelector(".problem")?.remove();
    if (told?.problem) list.insertAdjacentHTML("afterbegin", `<li class="problem warn">${escape(told.problem)}</li>`);
  }
  question(html, submit) {
    const before = document.activeElement;
    this.asking = true;
    this.box.innerHTML = html;
    this.drawn = null;
    const form = this.box.querySelector("form"),
      end = () => {
        this.asking = false;
        this.draw();
        if (before?.isConnected) before.focus();
      };
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      submit(form);
      end();
    });
    form.addEventListener("keydown", (e) => {
      e.stopPropagation();
      if (e.key === "Escape") end();
    });
    form.querySelector("[data-end]").addEventListener("click", end);
    form.querySelector("[data-first]").focus();
  }
  askNote(which) {
    if (!this.app.host || !which.length) return this.mark(which, {});
    const all = [...which];
    this.question(
      `<form><label>note on <bdi>${escape(this.named(all))}</bdi> <input data-first maxlength="2000" ` +
        `value="${escape(this.app.store.notes[all[0]])}"></label> <button>keep</button> ` +
        `<button type="button" data-end>leave</button></form>`,
      (form) => this.mark(all, { note: form.querySelector("input").value.trim() }),
    );
  }
  askDelete(which) {
    if (!this.app.host || !which.length) return this.mark(which, {});
    const names = which.map((i) => this.app.store.names[i]);
    this.question(
      `<form role="alertdialog" aria-label="Delete runs"><span>Delete ` +
        `<b><bdi>${escape(this.named(which))}</bdi></b> with all files, checkpoints included? ` +
        `This cannot be undone.</span> <button class="danger">delete</button> ` +
        `<button type="button" data-end data-first>leave</button></form>`,
      () => this.app.host.ask({ delete: names }).then((told) => this.complain(told)),
    );
  }
  named(which) {
    return which.length === 1 ? this.app.store.names[which[0]] : runs(which.length);
  }
}
