// Plans side by side; for the selected one its memory, its communication, and the sharding of the selected tensor.
import { escape } from "../../src/escape.js";
import frame from "../../src/frame.css";
import { roving } from "../../src/roving.js";
import { isDark } from "../../src/theme.js";
import { colourOf, partOf, partsOf, placeOf, wordsOf } from "./mesh.js";
import own from "./style.css";

const MOST = 1024; // devices that are drawn
const PATIENCE = 4000; // milliseconds
const NO_ANSWER =
  "No answer yet: the kernel is busy with a cell, and answers after it, or it has ended or was restarted; then run " +
  "the cell that made these plans again.";
const KEPT = { parameter: "Parameters", state: "optimizer", constant: "constants", argument: "arguments" };

export function bytes(n) {
  for (const [unit, size] of [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
  ])
    if (n >= size) return `${+(n / size).toPrecision(3)} ${unit}`;
  return `${Math.round(n)} B`;
}
export const lasting = (s) =>
  s >= 1 ? `${+s.toPrecision(3)} s` : s >= 1e-3 ? `${+(1e3 * s).toPrecision(3)} ms` : `${+(1e6 * s).toPrecision(3)} µs`;
// A plan stored by an older version lacks some numbers.
const rounded = (n) => (n === undefined ? "–" : (+n.toPrecision(3)).toLocaleString("en"));
const share = (part) => (part === undefined ? "–" : `${+(100 * part).toPrecision(2)} %`);
const bar = (share, kind = "") => `<i class="bar ${kind}" style="--share:${Math.min(1, share || 0).toFixed(4)}"></i>`;

export class App {
  // why(plan, tensor, act): ask the kernel, if there is one, for the costs of other layouts
  constructor(el, told, why) {
    const plans = told.plans.map((one) => ({ ...one, mesh: new Map(one.mesh) }));
    this.told = { ...told, mesh: new Map(told.mesh), plans };
    this.why = why;
    this.plan = 0;
    this.root = document.createElement("div");
    this.root.className = "msnb-view msnb-plan";
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "plans for many devices");
    const { title, devices, hardware, mesh, memory } = this.told,
      axes = [...mesh].map(([axis, size]) => `${size} ${axis}`);
    this.root.innerHTML =
      `<style>${frame}${own}</style><header><b>${escape(title)}</b> <span class="soft">on ${devices} ` +
      `${escape(hardware.name)}, ${escape(axes.join(" × "))}, ${bytes(memory)} each; all figures are those of one ` +
      `device</span>${(told.notes ?? []).map((note) => `<p class="note">${escape(note)}</p>`).join("")}</header>` +
      `<div class="wide plans"></div><div class="parts"><section class="memory"></section>` +
      `<section class="sent"></section><section class="lies"></section></div>` +
      `<p class="unseen" role="status" aria-live="polite"></p>`;
    el.append(this.root);
    this.cleanup = new AbortController();
    const { signal } = this.cleanup,
      watch = new MutationObserver(() => this.theme());
    for (const one of [document.body, document.documentElement]) watch.observe(one, { attributes: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme(), { signal });
    signal.addEventListener("abort", () => watch.disconnect());
    this.theme();
    this.root.addEventListener("click", (event) => this.pressed(event.target.closest("button")));
    this.root.addEventListener("change", ({ target }) => {
      if (target.dataset.set === "tensor") this.choose(+target.value);
    });
    this.tensor = this.largest();
    this.draw();
    this.root.dataset.ready = "1";
  }
  destroy() {
    this.asked?.();
    this.cleanup.abort();
    this.root.remove();
  }
  theme() {
    this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
  }
  find(selector) {
    return this.root.querySelector(selector);
  }
  get now() {
    return this.told.plans[this.plan];
  }
  largest() {
    const whole = (one) => one.shape.reduce((product, n) => product * n, 1);
    return this.now.tensors.reduce((best, one, i, all) => (whole(one) > whole(all[best]) ? i : best), 0);
  }

  pressed(button) {
    if (button?.dataset.plan) {
      this.plan = +button.dataset.plan;
      this.draw();
      this.find(`[data-plan="${this.plan}"]`).focus();
    } else if (button?.dataset.device) this.say(+button.dataset.device);
    else if (button?.dataset.do === "why") this.ask();
  }
  choose(number) {
    this.tensor = number;
    this.mesh();
  }

  draw() {
    this.plans();
    this.memory();
    this.sent();
    this.lies();
  }

  plans() {
    const { plans, memory } = this.told,
      longest = Math.max(...plans.map((one) => one.seconds)),
      sent = Math.max(...plans.map((one) => one.bytes)),
      has = (key) => plans.some((one) => one[key] !== undefined);
    // title, cell of a plan, and true if any plan has a value
    const columns = [
      [
        "bubble",
        (one) => (one.stages > 1 ? `${Math.round(100 * one.bubble)} %` : "–"),
        plans.some((one) => one.stages > 1),
      ],
      ["step", (one) => lasting(one.seconds) + bar(one.seconds / longest), true],
      [`${this.told.unit ?? "samples"}/s`, (one) => rounded(one.rate), has("rate")],
      ["MFU", (one) => share(one.utilisation), has("utilisation")],
      ["device h / 1,000 steps", (one) => rounded(one.device_hours), has("device_hours")],
      ["computing", (one) => lasting(one.computing), true],
      ["sending", (one) => lasting(one.sending), true],
      ["sent", (one) => bytes(one.bytes) + bar(one.bytes / sent, "sends"), true],
      ["XLA: sent", (one) => (one.compiled ? bytes(one.compiled.bytes) : "–"), has("compiled")],
      ["memory", (one) => bytes(one.memory) + bar(one.memory / memory, one.fits ? "keeps" : "bad"), true],
      ["XLA: memory", (one) => (one.compiled ? bytes(one.compiled.memory) : "–"), has("compiled")],
      ["fits", (one) => (one.fits ? "yes" : '<b class="bad">no</b>'), true],
    ].filter(([, , isShown]) => isShown);
    const rows = plans.map(
      (one, i) =>
        `<tr${i === this.plan ? ' class="on"' : ""}><th scope="row"><button type="button" data-plan="${i}" ` +
        `aria-pressed="${i === this.plan}">${escape(one.name)}</button></th>` +
        `${columns.map(([, cell]) => `<td>${cell(one)}</td>`).join("")}</tr>`,
    );
    const heads = ["strategy", ...columns.map(([title]) => title)];
    const wide = `class="reason" colspan="${heads.length - 1}"`;
    const refused = (this.told.refused ?? []).map(
      ({ name, reason }) => `<tr><th scope="row">${escape(name)}</th><td ${wide}>${escape(reason)}</td></tr>`,
    );
    this.find(".plans").innerHTML =
      `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>` +
      `<tbody>${[...rows, ...refused].join("")}</tbody></table>`;
    roving(this.find(".plans tbody"), "button", { from: (all) => all[this.plan] });
  }

  memory() {
    const kinds = Object.entries(this.now.memory_by_kind).filter(([, size]) => size > 0);
    this.find(".memory").innerHTML = `<h3>Memory of a device</h3><div class="stack" aria-hidden="true">${kinds
      .map(([, size], i) => `<i class="k${i}" style="width:${((100 * size) / this.now.memory).toFixed(2)}%"></i>`)
      .join("")}</div><ul>${kinds
      .map(([kind, size], i) => `<li><i class="dot k${i}"></i>${escape(KEPT[kind] ?? kind)} ${bytes(size)}</li>`)
      .join("")}</ul><p class="soft">${bytes(this.now.memory)} of ${bytes(this.told.memory)}</p>`;
  }

  sent() {
    const all = [...this.now.collectives].sort((a, b) => b.bytes - a.bytes),
      most = all[0]?.bytes;
    const rows = all.map(
      ({ kind, axes, times, bytes: size }) =>
        `<tr><th scope="row">${escape(kind)}</th><td>${escape(axes.join(", "))}</td><td>${times}</td>` +
        `<td>${bytes(size)}${bar(size / most, "sends")}</td></tr>`,
    );
    this.find(".sent").innerHTML =
      `<h3>Communication in a step</h3>` +
      (rows.length
        ? `<table><thead><tr><th scope="col">kind</th><th scope="col">along</th><th scope="col">times</th>` +
          `<th scope="col">sent by each</th></tr></thead><tbody>${rows.join("")}</tbody></table>`
        : `<p class="soft">Nothing is sent.</p>`);
  }

  lies() {
    const options = this.now.tensors.map(
      (one, i) =>
        `<option value="${i}"${i === this.tensor ? " selected" : ""}>${escape(one.name)}: ` +
        `${wordsOf(one, this.now.mesh)}</option>`,
    );
    this.find(".lies").innerHTML =
      `<h3>Which device holds which part</h3><div class="tools"><label>tensor <select data-set="tensor">` +
      `${options.join("")}</select></label>${
        this.why
          ? `<button type="button" data-do="why">why not another layout?</button>`
          : `<span class="soft">in a running notebook the kernel says what another layout costs</span>`
      }</div><p class="told soft"></p><div class="mesh" role="group" aria-label="devices"></div>` +
      `<p class="device"></p><div class="wide why"></div>`;
    this.settle = roving(this.find(".mesh"), "button");
    this.mesh();
  }

  mesh() {
    const one = this.now.tensors[this.tensor],
      { mesh } = this.now,
      { devices } = this.told,
      parts = partsOf(one, mesh),
      row = Math.min([...mesh.values()].at(-1), 16);
    this.find(".told").textContent =
      `${one.kind}, ${one.dtype}, ${wordsOf(one, mesh)}: ` +
      (parts > 1
        ? `${parts} parts of ${bytes(one.bytes)}, each on ${devices / parts} device${devices > parts ? "s" : ""}`
        : `whole on each device, ${bytes(one.bytes)}`);
    let text = "";
    for (let k = 0; k < Math.min(devices, MOST); k++) {
      const place = placeOf(mesh, k),
        { number } = partOf(one, mesh, place),
        [fill, ink] = colourOf(number, parts);
      if (k % row === 0) {
        const at = [...mesh.keys()].slice(0, -1).map((axis) => `${axis} ${place[axis]}`);
        text += `${k ? "</div>" : ""}<div class="row"><span class="soft">${escape(at.join(", "))}</span>`;
      }
      text +=
        `<button type="button" data-device="${k}" data-part="${number}" style="background:${fill};color:${ink}" ` +
        `aria-label="device ${k}, part ${number}">${parts > 1 && parts < 1000 ? number : ""}</button>`;
    }
    const box = this.find(".mesh");
    const more = devices > MOST ? `<p class="soft">and ${devices - MOST} more, in the same way</p>` : "";
    box.innerHTML = `${text}</div>${more}`;
    this.asked?.();
    this.find(".why").replaceChildren();
    this.find(".device").textContent = "";
    this.settle();
  }

  say(k) {
    const one = this.now.tensors[this.tensor],
      { mesh } = this.now,
      place = placeOf(mesh, k),
      { number, ranges } = partOf(one, mesh, place),
      at = [...mesh.keys()].map((axis) => `${axis} ${place[axis]}`),
      part = ranges.map(([from, to]) => `${from}:${to}`).join(", ");
    for (const cell of this.root.querySelectorAll("[data-device]"))
      cell.classList.toggle("same", +cell.dataset.part === number);
    const words = `Device ${k} (${at.join(", ")}) holds ${one.name}${part && `[${part}]`}`;
    this.find(".device").textContent = words;
    this.find("[role=status]").textContent = words;
  }

  ask() {
    const plan = this.now,
      one = plan.tensors[this.tensor],
      box = this.find(".why");
    this.asked?.();
    this.tell("the kernel counts …");
    const late = setTimeout(() => this.tell(NO_ANSWER), PATIENCE);
    this.asked = () => clearTimeout(late); // of an answer that nobody waits for any more
    this.why(plan.name, one.name, ({ rows, problem }) => {
      if (plan !== this.now || one !== plan.tensors[this.tensor]) return;
      clearTimeout(late);
      if (problem) {
        this.tell(problem);
        return;
      }
      const body = rows.map(({ layout, chosen, more, held }) => {
        const along = layout.map((axes) => axes.join("+") || "–").join(", "),
          sign = more > 0 ? "+" : more < 0 ? "−" : "";
        return (
          `<tr${chosen ? ' class="on"' : ""}><th scope="row">${wordsOf({ ...one, layout }, this.now.mesh)}` +
          `${chosen ? " (this plan)" : ""}</th><td>${escape(along)}</td>` +
          `<td>${sign}${bytes(Math.abs(more))}</td><td>${bytes(held)}</td></tr>`
        );
      });
      box.innerHTML =
        `<table><thead><tr><th scope="col">layout</th><th scope="col">along</th><th scope="col">sent beyond this ` +
        `plan</th><th scope="col">kept</th></tr></thead><tbody>${body.join("")}</tbody></table>` +
        `<p class="soft">All else is held as it is; bytes between hosts weigh more.</p>`;
      this.find("[role=status]").textContent = `${rows.length} layouts of ${one.name}`;
    });
  }

  // Show the text in place of the requested content.
  tell(words) {
    const said = document.createElement("p");
    said.className = "soft";
    said.textContent = this.find("[role=status]").textContent = words;
    this.find(".why").replaceChildren(said);
  }
}
