// What the panel and the status bar show: the state of the kernel in front, asked for again after each cell.
import type { INotebookTracker } from "@jupyterlab/notebook";
import { NotebookActions } from "@jupyterlab/notebook";
import { Signal } from "@lumino/signaling";
import { IState, ask, kernelOf, watchNotebooks } from "./kernel";

export class Model {
  state: IState | null = null;
  problem = "";
  readonly changed = new Signal<this, void>(this);
  private timer = 0;
  private asking = false;

  constructor(readonly tracker: INotebookTracker) {
    watchNotebooks(tracker, NotebookActions.executed, () => this.soon());
  }

  soon(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.refresh(), 120);
  }

  async refresh(): Promise<void> {
    if (this.asking) {
      return this.soon();
    }
    this.asking = true;
    try {
      await this.take({ what: "state" });
    } finally {
      this.asking = false;
    }
  }

  change(wish: { mode?: string; device?: string }): Promise<void> {
    return this.take({ what: "change", ...wish });
  }

  private async take(question: object): Promise<void> {
    const kernel = kernelOf(this.tracker.currentWidget);
    try {
      this.state = kernel ? await ask<IState>(kernel, question) : null;
      this.problem = "";
    } catch (error) {
      this.problem = (error as Error).message;
    }
    this.changed.emit();
  }
}
