// The side panel: networks of the session, programs that have been compiled, memory.
import type { TranslationBundle } from "@jupyterlab/translation";
import { LabIcon } from "@jupyterlab/ui-components";
import { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import type { IPlace } from "./kernel";
import type { Model } from "./model";

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="none" ' +
  'stroke="#616161" stroke-width="1.8"><rect x="7" y="2.5" width="10" height="5" rx="1.6"/>' +
  '<rect x="1.5" y="16.5" width="9" height="5" rx="1.6"/><rect x="13.5" y="16.5" width="9" height="5" rx="1.6"/>' +
  '<path d="M12 7.5V12M6 16.5V12h12v4.5"/></g></svg>';
export const icon = new LabIcon({ name: "msnb:graph", svgstr: SVG });

export class Panel extends Widget {
  private opened = new Set(["cells", "programs", "memory"]);

  constructor(
    private model: Model,
    private trans: TranslationBundle,
    private reveal: (place: IPlace) => void,
    private showGraph: (name: string) => void,
  ) {
    super();
    this.id = "msnb-panel";
    this.title.icon = icon;
    this.title.caption = trans.__("msnb: networks, programs, memory");
    this.addClass("msnb-Panel");
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", "msnb");
    model.changed.connect(() => this.draw(), this);
  }

  protected onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    this.model.soon();
    this.draw();
  }

  private draw(): void {
    if (!this.isVisible) {
      return;
    }
    const { state, problem } = this.model;
    const { trans } = this;
    const parts: Node[] = [];
    if (problem) {
      parts.push(make("p", "msnb-problem", problem));
    }
    if (!state) {
      parts.push(
        make(
          "p",
          "msnb-empty",
          trans.__("Run %load_ext msnb in a notebook; its networks, compiled programs and memory appear here."),
        ),
      );
    } else {
      parts.push(
        this.section(
          "cells",
          trans.__("Networks (%1)", state.cells.length),
          state.cells.map((c) => this.cell(c)),
          trans.__("No variable holds a Cell yet."),
        ),
      );
      parts.push(
        this.section(
          "programs",
          trans.__("Compiled programs (%1)", state.programs.length),
          state.programs.map((p) => this.program(p)),
          trans.__("Nothing has been compiled: cells run in PYNATIVE mode, or none has run."),
        ),
      );
      parts.push(this.section("memory", trans.__("Memory"), this.memory(), ""));
    }
    this.node.replaceChildren(...parts);
  }

  private section(key: string, title: string, rows: Node[], empty: string): Node {
    const details = document.createElement("details");
    details.open = this.opened.has(key);
    details.addEventListener("toggle", () => (details.open ? this.opened.add(key) : this.opened.delete(key)));
    details.append(make("summary", "", title), ...(rows.length ? rows : [make("p", "msnb-empty", empty)]));
    return details;
  }

  private cell(c: NonNullable<Model["state"]>["cells"][0]): Node {
    const row = make("div", "msnb-row");
    row.append(
      this.link(c.name, c, this.trans.__("Show where %1 is defined", c.kind)),
      make("span", "msnb-kind", c.kind),
      make(
        "span",
        "msnb-facts",
        [
          this.trans.__("%1 numbers", count(c.numbers)),
          size(c.bytes),
          ...(c.training ? [this.trans.__("training")] : []),
        ].join(" · "),
      ),
    );
    if (!c.programs) {
      row.append(make("span", "msnb-facts", this.trans.__("not called yet"))); // a graph needs to know its inputs
      return row;
    }
    const button = document.createElement("button");
    button.className = "msnb-small";
    button.textContent = this.trans.__("graph");
    button.title = this.trans.__("Show the graph of %1", c.name);
    button.addEventListener("click", () => this.showGraph(c.name));
    row.append(button);
    return row;
  }

  private program(p: NonNullable<Model["state"]>["programs"][0]): Node {
    const row = make("div", "msnb-row");
    row.append(
      this.link(p.name, p, this.trans.__("Show where %1 is defined", p.name)),
      make(
        "span",
        "msnb-facts",
        this.trans.__("%1 nodes · %2× · compiled in %3 s", p.nodes, p.calls, p.seconds.toFixed(2)),
      ),
      make("span", "msnb-inputs", p.inputs.join(", ")),
    );
    return row;
  }

  private memory(): Node[] {
    const m = this.model.state!.memory;
    const rows: [string, string][] = [
      [this.trans.__("Parameters"), size(m.parameters)],
      [this.trans.__("All %1 arrays", count(m.arrays)), size(m.bytes)],
    ];
    if (m.in_use != null) {
      rows.push([
        this.trans.__("In use on the device"),
        m.limit ? this.trans.__("%1 of %2", size(m.in_use), size(m.limit)) : size(m.in_use),
      ]);
    }
    if (m.peak != null) {
      rows.push([this.trans.__("Peak"), size(m.peak)]);
    }
    return rows.map(([name, value]) => {
      const row = make("div", "msnb-row msnb-pair");
      row.append(make("span", "", name), make("span", "msnb-facts", value));
      return row;
    });
  }

  private link(text: string, place: IPlace, title: string): Node {
    if (!place.cell) {
      return make("b", "", text);
    }
    const button = document.createElement("button");
    button.className = "msnb-link";
    button.textContent = text;
    button.title = title;
    button.addEventListener("click", () => this.reveal(place));
    return button;
  }
}

function make(tag: string, className: string, text = ""): HTMLElement {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

function count(many: number): string {
  const at = Math.max(0, Math.min(3, Math.floor(Math.log10(many || 1) / 3)));
  return many < 10_000 ? String(many) : `${Number((many / 1000 ** at).toPrecision(3))} ${["", "k", "M", "G"][at]}`;
}

function size(octets: number): string {
  const at = Math.max(0, Math.min(3, Math.floor(Math.log2(octets || 1) / 10)));
  return `${Number((octets / 2 ** (10 * at)).toPrecision(3))} ${["B", "KiB", "MiB", "GiB"][at]}`;
}
