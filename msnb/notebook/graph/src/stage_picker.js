// The two stage menus of the toolbar, and the request to the kernel for stages that are not computed yet.
import { escape } from "../../src/escape.js";

const SOURCE = "(source)"; // no stage is called that

export class StagePicker {
  constructor(app) {
    this.app = app;
    this.stageBox = app.root.querySelector(".which");
    this.otherBox = app.root.querySelector(".beside");
    app.on(this.stageBox, "change", () => this.chosen(this.stageBox));
    app.on(this.otherBox, "change", () => this.chosen(this.otherBox));
  }

  // List the stages in the payload, and those that the kernel can compute.
  offer(kept) {
    const { data, host } = this.app,
      here = data.stages.map((s) => s.name),
      offered = data.offered || [],
      wish = host.get("wanted"),
      files = Object.keys(data.files || {}).length;
    const made = here.filter((n) => !offered.includes(n)),
      inOrder = offered.filter((n) => here.includes(n) || host.live), // the compiler's
      all = [...made, ...inOrder];
    const option = (value, text) => `<option value="${escape(value)}">${escape(text)}</option>`,
      waits = host.get("waits") || {},
      named = (n) => (here.includes(n) ? n : waits[n] ? `${n} … compiles first, about ${lasting(waits[n])}` : `${n} …`);
    const keep = (select, fallback) => {
      const was = select.value;
      return here.includes(was) || was === "" ? was : fallback;
    };
    const left =
      kept && here.includes(kept.stage)
        ? kept.stage
        : wish && here.includes(wish) && this.wishFor === this.stageBox
          ? wish
          : keep(this.stageBox, "") || data.shown || here[0];
    const right =
      kept && (here.includes(kept.other) || !kept.other)
        ? kept.other
        : wish && here.includes(wish) && this.wishFor === this.otherBox
          ? wish
          : this.started
            ? keep(this.otherBox, "")
            : data.beside || "";
    this.stageBox.innerHTML = all.map((n) => option(n, named(n))).join("");
    this.otherBox.innerHTML =
      option("", "single view") +
      (files ? option(SOURCE, "beside: source") : "") +
      all.map((n) => option(n, `beside: ${named(n)}`)).join("");
    this.stageBox.value = here.includes(left) ? left : here[0];
    this.otherBox.value = right;
    this.started = true;
    this.wishFor = null;
    this.stageBox.hidden = all.length < 2;
    this.otherBox.hidden = all.length < 2 && !files;
  }
  // A missing stage is requested from the kernel, which answers with a new payload.
  chosen(box) {
    const { app } = this,
      name = box.value;
    if (name === SOURCE) {
      box.value = "";
      if (!app.source.shown) app.source.toggle();
      if (app.diff) app.show();
      return;
    }
    if (name && !this.find(name)) {
      box.value = box === this.stageBox ? app.stage.name : "";
      if (app.strip.gone) return;
      this.wishFor = box;
      const wait = app.host.get("waits")?.[name];
      if (wait) app.strip.wait(name, lasting(wait));
      else app.busy.textContent = `making ${name} …`;
      app.host.set("wanted", name);
      return;
    }
    app.show();
  }
  find(name) {
    return this.app.data.stages.find((s) => s.name === name);
  }
  // Return the one or two selected stages.
  stages() {
    const first = this.find(this.stageBox.value) || this.app.data.stages[0],
      name = this.otherBox.value,
      second = name && name !== first.name ? this.find(name) : null;
    return second ? [first, second] : [first];
  }
}

const lasting = (seconds) =>
  seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
