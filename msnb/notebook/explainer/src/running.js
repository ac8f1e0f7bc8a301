// The maps of an explainer that is running: they appear and sharpen while it runs.
import { drawSaliency } from "./overlay.js";

const LINGER = 4000; // milliseconds that a finished one stays

export class Running {
  constructor(app, box) {
    this.app = app;
    this.box = box;
  }
  take({ running, done, total, count, height, width }, bytes) {
    const { box } = this;
    clearTimeout(this.timer);
    box.hidden = false;
    if (box.dataset.shape !== [running, count, height, width].join()) this.build(running, count, height, width);
    box.querySelector("p").textContent =
      `${running}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} steps`;
    box.querySelector("progress").max = total;
    box.querySelector("progress").value = done;
    box.querySelectorAll("canvas").forEach((canvas, i) => {
      const start = i * height * width;
      drawSaliency(canvas, bytes.subarray(start, start + height * width), width, height);
      canvas.dataset.done = done;
    });
    if (done >= total) {
      this.app.say(`${running} is done.`);
      this.timer = setTimeout(() => this.hide(), LINGER);
    }
  }
  // an error or Ctrl-C has ended it: the maps so far stay, until another one runs
  stop() {
    const { box } = this;
    if (box.hidden) return;
    const text = box.querySelector("p").textContent.replace(": ", " was stopped after ");
    box.querySelector("p").textContent = text;
    box.querySelector("progress").hidden = true;
    box.dataset.shape = "";
    this.app.say(text);
  }
  build(name, count, height, width) {
    const { box, app } = this;
    box.dataset.shape = [name, count, height, width].join();
    box.innerHTML = `<p></p><progress aria-label="steps"></progress><div class="figures"></div>`;
    // a runner explains its samples in their order, so the next ones are those without a map of this method
    const next = app.data.methods.includes(name) ? app.data.samples.filter((one) => !one.maps[name]) : [];
    for (let i = 0; i < count; i++) {
      const stack = document.createElement("div"),
        sample = count <= next.length ? next[i] : undefined;
      stack.className = "stack small";
      if (sample && app.pictures.has(sample.image))
        stack.append(Object.assign(document.createElement("img"), { src: app.pictures.url(sample.image), alt: "" }));
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", sample ? `partial map of sample ${sample.id}` : `partial map ${i + 1}`);
      stack.append(canvas);
      box.querySelector(".figures").append(stack);
    }
  }
  hide() {
    this.box.hidden = true;
    this.box.dataset.shape = "";
    this.box.replaceChildren();
  }
  close() {
    clearTimeout(this.timer);
  }
}
