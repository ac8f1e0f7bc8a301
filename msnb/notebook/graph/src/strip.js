// The line above the graph that reports why it is incomplete or out of date: the network fails, its cell has an error,
// or the kernel of the view has ended (which only the style shows).
import css from "./strip.css";
import { escape } from "../../src/escape.js";

export class Strip {
  constructor(app) {
    this.app = app;
    app.root.insertAdjacentHTML("afterbegin", `<style>${css}</style>`);
    app.root
      .querySelector(".body")
      .insertAdjacentHTML(
        "beforebegin",
        `<div class="strip gone"><b>The kernel has restarted</b>: run this cell again.</div>` +
          `<div class="strip" role="status"></div>`,
      );
    this.el = app.root.querySelector(".strip:not(.gone)");
    app.on(this.el, "click", (e) => app.follow(e.target.closest("[data-go]")));
    app.on(this.el, "click", (e) => {
      if (!e.target.closest(".cancel")) return;
      app.host.ask("cancel");
      app.host.set("wanted", "");
      this.draw();
    });
    app.host.on("stale", () => this.draw());
    app.off.signal.addEventListener("abort", () => clearInterval(this.ticking));
  }
  // Show the progress of a compilation; the notebook can be used meanwhile.
  wait(name, about) {
    const start = Date.now();
    clearInterval(this.ticking);
    this.el.classList.add("calm");
    this.el.innerHTML =
      `<b>Compiling ${escape(name)}</b>: <span class="seconds">0</span> s of about ${escape(about)}; cells can be ` +
      `run meanwhile. <button class="link cancel">cancel</button>`;
    this.ticking = setInterval(() => {
      const shown = this.el.querySelector(".seconds");
      if (shown) shown.textContent = Math.round((Date.now() - start) / 1000);
    }, 500);
  }
  // True if the kernel that created the view has ended.
  get gone() {
    return !!this.app.root.closest(".jupyter-widgets-disconnected");
  }
  draw() {
    const { app } = this,
      said = app.host.get("stale") || "",
      stale = said[0] === "!",
      problem = app.panes[0]?.stage.problem;
    clearInterval(this.ticking);
    this.el.classList.toggle("calm", !!said && !stale); // a message about a graph that is complete
    app.root.classList.toggle("stale", stale);
    this.el.innerHTML = stale
      ? `<b>Shows the last version that worked</b>; ${escape(said.slice(1))}`
      : said
        ? escape(said)
        : problem
          ? `<b>Stops at <button class="link" data-go="${problem.id}">${escape(app.panes[0].stage.op(problem.id))}` +
            `</button></b> ${escape(problem.said)}`
          : "";
  }
}
