// The switch of mode and device of the session, and a sentence beside it: in the status bar or a notebook's toolbar.
import type { TranslationBundle } from "@jupyterlab/translation";
import { Widget } from "@lumino/widgets";
import type { Model } from "./model";

export class Status extends Widget {
  private mode = document.createElement("select");
  private device = document.createElement("select");
  private said = document.createElement("span");

  constructor(
    private model: Model,
    trans: TranslationBundle,
  ) {
    super();
    this.addClass("msnb-Status");
    this.node.append("msnb ", this.mode, ` ${trans.__("on")} `, this.device, this.said);
    this.said.className = "msnb-said";
    this.said.setAttribute("role", "status");
    this.mode.setAttribute("aria-label", trans.__("msnb mode"));
    this.mode.title = trans.__("GRAPH compiles a network as a whole; PYNATIVE runs it operator by operator");
    this.device.setAttribute("aria-label", trans.__("msnb device"));
    this.device.title = trans.__("The device that operators run on");
    this.mode.addEventListener("change", () => void model.change({ mode: this.mode.value }));
    this.device.addEventListener("change", () => void model.change({ device: this.device.value }));
    model.changed.connect(() => this.draw(), this);
    this.draw();
  }

  /** A sentence beside the switch, '' for none. */
  say(text: string): void {
    this.said.textContent = text;
    this.said.title = text;
  }

  private draw(): void {
    const { state, problem } = this.model;
    this.setHidden(!state);
    if (problem) {
      this.say(problem);
    }
    if (state) {
      fill(this.mode, ["GRAPH", "PYNATIVE"], state.mode);
      fill(this.device, state.devices, state.device);
    }
  }
}

function fill(select: HTMLSelectElement, names: string[], chosen: string): void {
  select.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}
