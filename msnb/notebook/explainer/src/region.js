// A region of a picture: the reader clicks or draws it, the kernel answers with the channels and nodes that carry it.
import { bytesOf } from "../../src/bytes.js";
import { escape } from "../../src/escape.js";
import { drawRelevance } from "./overlay.js";

const SIDE = 0.2; // of a region that is clicked, as a share of the picture
const STEP = 0.1; // of a key
const SMALL = 0.03; // a drag that is shorter is a click
const PATIENCE = 4000; // milliseconds
const NO_ANSWER =
  "No answer yet: the kernel is busy with a cell, or compiles the network for its first region, and answers after it.";

const clamp = (value) => Math.min(1, Math.max(0, value));
const short = (value) =>
  value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(2) : Number(value.toPrecision(3)).toString();

export class Region {
  constructor(app) {
    this.app = app;
    this.box = null; // top, left, bottom, right, as shares of the picture
    this.serial = 0;
  }
  clear() {
    this.box = null;
    this.serial++;
    clearTimeout(this.late);
  }

  attach(detail, sample, label) {
    this.detail = detail;
    this.sample = sample;
    this.label = label;
    this.clear();
    detail.querySelector(".region").innerHTML = `<p class="soft">${this.hint()}</p>`;
    for (const stack of detail.querySelectorAll(".figures .stack")) this.listen(stack);
  }
  hint() {
    if (!this.app.host) return "In a running notebook, a region of a picture leads to the channels that carry it.";
    return this.app.host.hasNet
      ? "Click a region of a picture, or draw one, to see the channels and nodes that carry it."
      : "With <code>--net net</code>, a region of a picture leads to the channels and nodes that carry it.";
  }
  get isActive() {
    return Boolean(this.app.host?.hasNet && this.label !== undefined);
  }

  listen(stack) {
    if (!this.isActive) return;
    stack.classList.add("active");
    stack.tabIndex = 0;
    stack.setAttribute("role", "button"); // Enter asks for the region
    let start = null;
    const at = (event) => {
      const { top, left, width, height } = stack.getBoundingClientRect();
      return [clamp((event.clientY - top) / height), clamp((event.clientX - left) / width)];
    };
    stack.addEventListener("pointerdown", (event) => {
      start = at(event);
      stack.setPointerCapture(event.pointerId);
    });
    stack.addEventListener("pointermove", (event) => start && this.draw(this.between(start, at(event))));
    stack.addEventListener("pointerup", (event) => {
      if (!start) return;
      const box = this.between(start, at(event));
      start = null;
      this.draw(box);
      this.ask();
    });
    stack.addEventListener("pointercancel", () => (start = null));
  }
  between([y, x], [y2, x2]) {
    const isClick = Math.abs(y - y2) < SMALL && Math.abs(x - x2) < SMALL,
      half = isClick ? SIDE / 2 : 0;
    return [
      clamp(Math.min(y, y2) - half),
      clamp(Math.min(x, x2) - half),
      clamp(Math.max(y, y2) + half),
      clamp(Math.max(x, x2) + half),
    ];
  }
  draw(box) {
    this.box = box;
    const [top, left, bottom, right] = box.map((share) => 100 * share);
    for (const stack of this.detail.querySelectorAll(".figures .stack")) {
      const frame = stack.querySelector(".box") ?? stack.appendChild(document.createElement("i"));
      frame.className = "box";
      frame.style.cssText = `top:${top}%;left:${left}%;width:${right - left}%;height:${bottom - top}%`;
    }
  }
  // Handle Shift with an arrow; return true if it has a meaning.
  move({ key, target }) {
    if (!this.isActive || !target.closest(".stack")) return false;
    const [y, x] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key],
      [top, left, bottom, right] = this.box ?? [0.4, 0.4, 0.6, 0.6],
      down = Math.min(1 - bottom, Math.max(-top, this.box ? y * STEP : 0)),
      across = Math.min(1 - right, Math.max(-left, this.box ? x * STEP : 0));
    this.draw([top + down, left + across, bottom + down, right + across]);
    this.app.say(`region ${this.words()}`);
    return true;
  }
  press() {
    if (!this.isActive) return false;
    if (!this.box) this.draw([0.4, 0.4, 0.6, 0.6]);
    this.ask();
    return true;
  }
  words() {
    const [top, left, bottom, right] = this.box.map((share) => Math.round(100 * share));
    return `${top} to ${bottom} % from the top, ${left} to ${right} % from the left`;
  }
  tell(words) {
    this.detail.querySelector(".region").innerHTML = `<p class="soft">${escape(words)}</p>`;
    this.app.say(words);
  }

  get question() {
    return { sample: this.sample.id, label: this.label, box: this.box };
  }
  async ask() {
    const mine = ++this.serial;
    clearTimeout(this.late);
    this.tell("computing …");
    this.late = setTimeout(() => mine === this.serial && this.tell(NO_ANSWER), PATIENCE);
    const answer = await this.app.host.ask({ region: this.question });
    if (mine !== this.serial) return; // an answer that nobody waits for any more
    clearTimeout(this.late);
    if (answer.problem) this.tell(answer.problem);
    else this.show(answer);
  }
  show(answer) {
    const { node, line, cells, size, channels, nodes, share, relevance, score } = answer,
      box = this.detail.querySelector(".region"),
      most = Math.max(...channels.map((one) => Math.abs(one.relevance)), 1e-30),
      [, high, wide] = size;
    const rows = channels.map(
      (one, i) =>
        `<tr><td><canvas data-map="${i}" role="img" aria-label="map of channel ${one.channel}"></canvas></td>` +
        `<th scope="row">${one.channel}</th><td class="number">${short(one.relevance)}</td>` +
        `<td><i class="bar${one.relevance < 0 ? " less" : ""}" style="--share:${Math.abs(one.relevance) / most}"></i>` +
        `</td></tr>`,
    );
    const nodeRows = nodes.map(
      (one) =>
        `<tr${one.node === node ? ' class="on"' : ""}><th scope="row">${escape(one.node)}</th>` +
        `<td class="number">${(100 * one.share).toFixed(1)} %</td>` +
        `<td><i class="bar" style="--share:${one.share}"></i></td><td class="number">${short(one.relevance)}</td></tr>`,
    );
    box.innerHTML =
      `<h3>Region for ${escape(this.app.nameOf(this.label))}</h3>` +
      `<p class="soft">${this.words()}: rows ${cells[0]} to ${cells[2]} of ${high} and columns ${cells[1]} to ` +
      `${cells[3]} of ${wide} in ${escape(node)}${line ? `, ${escape(line)}` : ""}. Gradient times activation is ` +
      `${short(relevance)} there, ${(100 * share).toFixed(1)} % of its magnitude in the picture; the score is ` +
      `${short(score)}.${
        answer.is_exact ? "" : " The input is the saved picture, scaled to 0 to 1: <code>--inputs x</code> is exact."
      }</p><div class="answers"><div class="wide channels"><table><thead><tr><th scope="col">map</th>` +
      `<th scope="col">channel</th><th scope="col" colspan="2">gradient × activation</th></tr></thead>` +
      `<tbody>${rows.join("")}</tbody></table></div><div class="wide"><table><thead><tr><th scope="col">node</th>` +
      `<th scope="col" colspan="2">share in the region</th><th scope="col">sum</th></tr></thead>` +
      `<tbody>${nodeRows.join("")}</tbody></table><div class="tools"><button data-do="graph">mark on the graph` +
      `</button></div></div></div><div class="graph"></div>`;
    const maps = bytesOf(answer.buffers[0]);
    for (const canvas of box.querySelectorAll("canvas")) {
      const start = +canvas.dataset.map * high * wide;
      drawRelevance(canvas, maps.subarray(start, start + high * wide), wide, high);
    }
    box.querySelector("[data-do=graph]").onclick = ({ target }) => this.graph(target, box.querySelector(".graph"));
    this.app.say(`${channels.length} channels of ${node}; channel ${channels[0]?.channel} is the first.`);
  }
  async graph(button, into) {
    button.disabled = true;
    const answer = await this.app.host.ask({ region: { ...this.question, graph: true } });
    if (!into.isConnected) return;
    if (answer.problem) into.textContent = answer.problem;
    else await this.app.host.mountGraph(into, answer.buffers, { height: 420, cells: {}, colour: "region" });
    into.dataset.ready = "";
  }
}
