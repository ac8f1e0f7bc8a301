// A changed value: the controls in the panel of a node, and the results before and after.
import css from "./intervene.css";
import { escape } from "../../src/escape.js";

export class Changing {
  constructor(app) {
    this.app = app;
    this.edit = null; // {node, factor, shift, channel} or {node, attribute, value} of the last request
    this.answer = null;
    this.waits = false; // an answer is on its way
    this.next = null; // the request that follows it: only the last one of a moved slider
    this.attributes = new Map(); // node -> [[name, value, is traced]]; null while the kernel is asked
    app.root.insertAdjacentHTML("afterbegin", `<style>${css}</style>`);
    app.on(app.panel, "click", (e) => this.press(e.target.closest("[data-change]")));
    app.on(app.panel, "input", (e) => this.enter(e.target.closest(".change input:not([data-attribute])")));
    app.on(app.panel, "input", (e) => this.enterAttribute(e.target.closest(".change [data-live]")));
    app.on(app.panel, "change", (e) => this.enterAttribute(e.target.closest(".change [data-attribute]")));
    for (const name of ["valued", "step"]) app.host.on(name, () => this.forget());
  }
  forget() {
    this.edit = this.answer = this.next = null;
    this.waits = false;
    this.attributes.clear();
    this.draw();
  }
  // The number of the selected node in the kernel's graph, -1 if no value can be changed.
  get node() {
    const { app } = this,
      { stage, host } = app,
      id = app.active?.selected ?? -1;
    if (id < 0 || !host.live || !host.ask || !stage || stage.isArgument(id) || stage.isScope(id)) return -1;
    return host.get("valued") === stage.name ? (stage.ids ? stage.ids[id] : id) : -1;
  }
  press(button) {
    if (!button) return;
    const node = this.node;
    if (button.dataset.change === "undo") this.ask({ node: this.edit?.node ?? node, factor: null });
    else if (node >= 0) this.ask({ ...this.read(), node, factor: 0, shift: 0 });
  }
  enter(input) {
    const node = this.node;
    if (input && node >= 0) this.ask({ ...this.read(), node });
  }
  enterAttribute(input) {
    const node = this.node,
      name = input?.dataset.attribute;
    if (!input || node < 0 || input.value === "") return;
    const value = input.type === "range" ? toValue(input) : Number(input.value),
      own = this.edit?.node === node && this.edit.attribute === name;
    if (own && this.edit.value === value) return; // the end of a slider's move follows its last step
    this.ask({ node, attribute: name, value, factor: null });
  }
  read() {
    const value = (name) => this.app.panel.querySelector(`.change [name="${name}"]`)?.value ?? "",
      channel = value("channel");
    return {
      factor: Number(value("factor") || 1),
      shift: Number(value("shift") || 0),
      channel: channel === "" ? null : Math.max(0, Math.floor(+channel) || 0),
    };
  }
  ask(edit) {
    this.edit = edit.factor === null && !edit.attribute ? null : edit;
    if (this.waits) this.next = edit;
    else {
      this.waits = true;
      this.app.host.ask("change", edit);
    }
    this.mark();
  }
  receive(message) {
    const { next } = this;
    this.waits = false;
    this.next = null;
    this.answer = this.edit ? message : null;
    if (next) this.ask(next);
    this.mark();
  }
  receiveAttributes({ node, rows }) {
    this.attributes.set(node, rows);
    if (node === this.node) this.drawAttributes();
  }
  // Draw a slider or a number field for each attribute that can be changed; ask the kernel for them once.
  drawAttributes() {
    const node = this.node,
      list = this.app.panel.querySelector(".change .attributes");
    if (!list) return;
    if (!this.attributes.has(node)) {
      this.attributes.set(node, null);
      this.app.host.ask("attributes", { node });
    }
    list.innerHTML = (this.attributes.get(node) || []).map(control).join("");
    this.mark();
  }
  // Draw the controls of the selected node below its values.
  draw() {
    const { panel } = this.app,
      node = this.node;
    panel.querySelector(".change")?.remove();
    if (node < 0) return;
    const own = this.edit?.node === node && !this.edit.attribute ? this.edit : null,
      factor = own?.factor ?? 1,
      section = document.createElement("section");
    section.className = "change";
    section.setAttribute("aria-label", "change the value");
    section.innerHTML =
      `<h4>Change</h4><div class="buttons"><button class="tab" data-change="remove">without this node</button>` +
      `<button class="tab" data-change="undo">undo</button></div>` +
      `<label>times <input name="factor" type="range" min="-2" max="3" step="0.1" value="${factor}">` +
      `<output>${factor}</output></label>` +
      `<label>plus <input name="shift" type="number" step="0.1" value="${own?.shift ?? 0}"></label>` +
      `<label>channel <input name="channel" type="number" min="0" placeholder="all" value="${own?.channel ?? ""}">` +
      `</label><div class="attributes"></div><div class="outcome" aria-live="polite"></div>`;
    const next = panel.querySelector(".values")?.nextElementSibling ?? panel.querySelector("h4");
    if (next) next.before(section);
    else panel.append(section);
    this.drawAttributes();
  }
  // Mark the box of the changed node, or the closed scope that it is in.
  markBox(pane) {
    const { edit, app } = this,
      { stage, byId } = pane;
    byId?.forEach((box) => box.classList.remove("changed"));
    if (!edit || !stage || app.host.get("valued") !== stage.name) return;
    const id = stage.ids ? stage.ids.indexOf(edit.node) : edit.node;
    if (id < 0) return;
    for (const one of [id, ...stage.chain(id).map((scope) => scope.id)]) {
      const box = byId?.get(one);
      if (box && !box.classList.contains("open")) box.classList.add("changed");
    }
  }
  // Show the outcome without drawing the controls anew, because a slider may be held.
  mark() {
    const { edit, answer } = this;
    for (const pane of this.app.panes || []) {
      this.markBox(pane);
      if (!!edit !== this.isShown) pane.moved(true);
    }
    this.isShown = !!edit;
    const section = this.app.panel.querySelector(".change");
    if (!section) return;
    const elsewhere = edit && edit.node !== this.node ? `<p class="kind">changed: node %${edit.node}</p>` : "";
    section.querySelector("[data-change=undo]").disabled = !edit;
    const factor = edit && !elsewhere && !edit.attribute ? edit.factor : 1;
    for (const input of section.querySelectorAll("[data-attribute]")) {
      const { attribute, original } = input.dataset,
        value = edit?.attribute === attribute && !elsewhere ? edit.value : +original;
      if (input.type === "range") input.value = input.dataset.log ? Math.log10(value) : value;
      else if (document.activeElement !== input) input.value = value;
      const output = input.parentElement.querySelector("output");
      if (output) output.textContent = short(value);
    }
    section.querySelector("[name=factor]").value = factor;
    section.querySelector("[name=factor] + output").textContent = factor;
    section.querySelector(".outcome").innerHTML = elsewhere + (edit ? outcome(answer) : "");
  }
}

const short = (value) => String(Number(value.toPrecision(3)));

// A slider is logarithmic for small positive values, such as an epsilon.
const toValue = (input) => Number((input.dataset.log ? 10 ** +input.value : +input.value).toPrecision(3));

function control([name, value, isTraced]) {
  const data = `data-attribute="${escape(name)}" data-original="${value}" aria-label="${escape(name)}"`;
  if (!isTraced) {
    const step = Number.isInteger(value) ? 1 : "any";
    return (
      `<label title="each new value is compiled">${escape(name)} ` +
      `<input ${data} type="number" step="${step}" value="${value}"></label>`
    );
  }
  const isSmall = value > 0 && value < 0.01,
    exponent = isSmall ? Math.round(Math.log10(value)) : 0,
    [min, max, step] = isSmall
      ? [exponent - 3, 1, 0.1]
      : [Math.min(0, 2 * value), Math.max(1, value > 1 ? 2 * value : 1), Math.max(1, Math.abs(value)) / 100];
  return (
    `<label title="the first value is compiled">${escape(name)} <input ${data} ${isSmall ? 'data-log="1"' : ""} ` +
    `data-live type="range" min="${min}" max="${max}" step="${step}"><output>${short(value)}</output></label>`
  );
}

const cells = (kind, row) => `<tr>${row.map((cell) => `<${kind}>${escape(cell)}</${kind}>`).join("")}</tr>`;

function outcome(answer) {
  if (!answer) return `<p class="kind">computing… The first change of a network compiles it.</p>`;
  if (answer.problem) return `<p class="bad">${escape(answer.problem)}</p>`;
  const table = ({ title, rows }) =>
    rows.length
      ? `<table>${cells("th", [title, "before", "after"])}${rows.map((row) => cells("td", row)).join("")}</table>`
      : "";
  return (
    `<p class="kind">${escape(answer.text)}; the colour is the relative difference</p>` +
    answer.results.map(table).join("") +
    (answer.note ? `<p class="kind">${escape(answer.note)}</p>` : "")
  );
}
