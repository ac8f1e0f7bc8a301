// Breakpoints of cells: a click beside a line sets one, and the next `%%ms_debug` cell pauses there.
import { Notification } from "@jupyterlab/apputils";
import type { Cell } from "@jupyterlab/cells";
import type { TranslationBundle } from "@jupyterlab/translation";
import { INotebookTracker, NotebookActions, NotebookPanel } from "@jupyterlab/notebook";
import { EditorState, Extension, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { EditorView, GutterMarker, gutter } from "@codemirror/view";
import { ask, kernelOf } from "./kernel";
import { viewOf } from "./source";

interface IAnswer {
  moved: Record<string, Record<string, number>>; // cell -> line -> the next line with nodes
  said: string;
}

class Dot extends GutterMarker {
  title = "";

  toDOM(): Node {
    const dot = document.createElement("span");
    dot.className = "msnb-Breakpoint";
    dot.title = this.title;
    return dot;
  }
}

const dot = new Dot();
const change = StateEffect.define<{ from: number; to: number; isSet: boolean }>();

const marks = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(dots, transaction) {
    dots = dots.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(change)) {
        const { from, to, isSet } = effect.value;
        dots = dots.update({
          filter: (at) => at < from || at > to,
          add: isSet ? [dot.range(from)] : [],
        });
      }
    }
    return dots;
  },
});

function linesOf(state: EditorState): number[] {
  const lines = new Set<number>();
  for (const at = state.field(marks, false)?.iter() ?? null; at?.value; at.next()) {
    lines.add(state.doc.lineAt(at.from).number);
  }
  return [...lines];
}

function mark(view: EditorView, number: number, isSet: boolean): void {
  const { from, to } = view.state.doc.line(number);
  view.dispatch({ effects: change.of({ from, to, isSet }) });
}

export class Breakpoints {
  readonly extension: Extension;
  private informed = new WeakSet<object>(); // kernels that have heard of breakpoints

  constructor(
    private tracker: INotebookTracker,
    isLoaded: () => boolean,
    loaded: { connect(slot: () => void): boolean },
    trans: TranslationBundle,
  ) {
    dot.title = trans.__("The next %%%%ms_debug cell pauses here");
    this.extension = [
      marks,
      gutter({
        class: "msnb-Breakpoints",
        renderEmptyElements: true,
        markers: (view) => view.state.field(marks),
        domEventHandlers: {
          mousedown: (view, line, event) => {
            if ((event as MouseEvent).button !== 0) {
              return false;
            }
            this.toggle(view, view.state.doc.lineAt(line.from).number);
            return true;
          },
        },
      }),
    ];
    // Other kernels have no debugger, so the strip beside their lines stays away.
    loaded.connect(() => tracker.currentWidget?.toggleClass("msnb-isLoaded", isLoaded()));
    NotebookActions.executionScheduled.connect((_, { notebook }) => {
      const panel = tracker.find((one) => one.content === notebook);
      if (panel) {
        void this.send(panel);
      }
    });
  }

  /** Set or remove the breakpoint of the line with the cursor. */
  toggleHere(): void {
    const cell = this.tracker.activeCell;
    const view = cell?.model.type === "code" ? viewOf(cell) : undefined;
    if (view) {
      this.toggle(view, view.state.doc.lineAt(view.state.selection.main.head).number);
    }
  }

  private toggle(view: EditorView, line: number): void {
    mark(view, line, !linesOf(view.state).includes(line));
    const panel = this.tracker.find((one) => one.content.widgets.some((cell) => viewOf(cell) === view));
    if (panel) {
      void this.send(panel);
    }
  }

  /** Send the breakpoints of all cells. Those on a line without nodes move to the next one with nodes. */
  private async send(panel: NotebookPanel): Promise<void> {
    const kernel = kernelOf(panel);
    const cells: Record<string, number[]> = {};
    const views = new Map<string, EditorView>();
    for (const cell of panel.content.widgets as readonly Cell[]) {
      const view = viewOf(cell);
      const lines = view && cell.model.type === "code" ? linesOf(view.state) : [];
      if (view && lines.length) {
        cells[cell.model.id] = lines;
        views.set(cell.model.id, view);
      }
    }
    if (!kernel || (!views.size && !this.informed.has(kernel))) {
      return;
    }
    this.informed.add(kernel);
    const answer = await ask<IAnswer>(kernel, { what: "breakpoints", cells }).catch(() => null);
    for (const [cell, moved] of Object.entries(answer?.moved ?? {})) {
      const view = views.get(cell);
      for (const [line, next] of Object.entries(moved)) {
        if (view && next <= view.state.doc.lines && linesOf(view.state).includes(+line)) {
          mark(view, +line, false);
          mark(view, next, true);
        }
      }
    }
    if (answer?.said) {
      Notification.info(answer.said, { autoClose: 6000 });
    }
  }
}
