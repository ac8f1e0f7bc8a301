// Graphs that follow typing: the text of the cell goes to the kernel when the hands rest, once it is idle.
import type { Cell } from "@jupyterlab/cells";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import { ask, kernelOf } from "./kernel";
import { mistake } from "./source";

const REST = 250; // milliseconds without a key

export class Live {
  on = true;
  private timer = 0;
  private pointing = 0;
  private cell: Cell | null = null;

  constructor(
    private tracker: INotebookTracker,
    private loaded: () => boolean,
    private say: (text: string) => void,
  ) {
    tracker.activeCellChanged.connect((_, cell) => this.attach(cell));
    this.attach(tracker.activeCell);
  }

  private attach(cell: Cell | null): void {
    if (this.cell === cell) {
      return;
    }
    if (this.cell && !this.cell.isDisposed) {
      this.cell.model.sharedModel.changed.disconnect(this.typed, this);
      this.cell.editor?.model.selections.changed.disconnect(this.moved, this);
    }
    this.cell = cell && cell.model.type === "code" ? cell : null;
    this.cell?.model.sharedModel.changed.connect(this.typed, this);
    this.cell?.editor?.model.selections.changed.connect(this.moved, this);
  }

  private typed(_: unknown, change: { sourceChange?: unknown }): void {
    if (this.on && change.sourceChange) {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.send(), REST);
    }
  }

  private moved(): void {
    if (this.on) {
      window.clearTimeout(this.pointing);
      this.pointing = window.setTimeout(() => void this.point(), REST);
    }
  }

  private idle(): { panel: NotebookPanel; cell: Cell } | null {
    const panel = this.tracker.currentWidget;
    const kernel = kernelOf(panel);
    return panel && this.loaded() && this.cell && !this.cell.isDisposed && kernel?.status === "idle"
      ? { panel, cell: this.cell }
      : null;
  }

  private async send(): Promise<void> {
    const now = this.idle();
    if (!now) {
      if (kernelOf(this.tracker.currentWidget)?.status === "busy") {
        this.timer = window.setTimeout(() => void this.send(), REST); // what was typed meanwhile counts, too
      }
      return;
    }
    const question = { what: "typed", cell: now.cell.model.id, text: now.cell.model.sharedModel.getSource() };
    try {
      const answer = await ask<{ said: string | null; line: number | null }>(kernelOf(now.panel)!, question);
      this.say(answer?.said ?? "");
      if (now.cell.model.sharedModel.getSource() === question.text) {
        mistake(now.cell, answer?.line ?? null);
      }
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  private async point(): Promise<void> {
    const now = this.idle();
    const editor = now?.cell.editor;
    if (now && editor?.hasFocus()) {
      const question = { what: "pointed", cell: now.cell.model.id, line: editor.getCursorPosition().line + 1 };
      await ask(kernelOf(now.panel)!, question).catch(() => undefined);
    }
  }
}
