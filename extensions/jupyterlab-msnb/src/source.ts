// From a node of a graph to its line in the notebook, and back from the cursor to the node.
import type { Cell, CodeCell } from "@jupyterlab/cells";
import type { INotebookTracker } from "@jupyterlab/notebook";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, DecorationSet, EditorView } from "@codemirror/view";
import type { Text } from "@codemirror/state";
import type { IPlace } from "./kernel";

interface IMark {
  at: number; // position of the line
  note?: string; // shown behind the line
}

const mark = StateEffect.define<IMark | null>();
const fault = StateEffect.define<IMark | null>();

function marked(effect: typeof mark, className: string): StateField<DecorationSet> {
  const lineOf = ({ note }: IMark) =>
    Decoration.line({ class: className, attributes: note ? { "data-note": note } : {} });
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(marks, transaction) {
      for (const each of transaction.effects) {
        if (each.is(effect)) {
          return each.value === null ? Decoration.none : Decoration.set([lineOf(each.value).range(each.value.at)]);
        }
      }
      return transaction.docChanged ? Decoration.none : marks;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

/** Editor extension: the line that a click on a node has asked for, until the text or the cursor changes. */
export const revealed = marked(mark, "msnb-revealed");

/** Editor extension: the line that keeps a graph from following, until the text changes. */
export const mistaken = marked(fault, "msnb-mistake");

/** Mark the line of a cell that keeps its graph from following; null for none. */
export function mistake(cell: Cell, line: number | null): void {
  const view = viewOf(cell);
  if (view) {
    const there = line !== null && line >= 1 && line <= view.state.doc.lines;
    view.dispatch({ effects: fault.of(there ? { at: view.state.doc.line(line).from } : null) });
  }
}

/**
 * Show a line of a cell, with `note` behind it if the cell has no line of that text; return false if there is no such
 * cell. Only `asked` moves the focus.
 */
export function reveal(tracker: INotebookTracker, place: IPlace & { asked?: boolean }, note: string): boolean {
  for (const panel of [tracker.currentWidget, ...[tracker.find((p) => has(p, place.cell))]]) {
    if (!panel || !has(panel, place.cell)) {
      continue;
    }
    const notebook = panel.content;
    const index = notebook.widgets.findIndex((c) => c.model.id === place.cell);
    const cell = notebook.widgets[index] as CodeCell;
    for (const other of notebook.widgets) {
      viewOf(other)?.dispatch({ effects: mark.of(null) });
    }
    const view = viewOf(cell);
    const { number, isSame } = lineIn(view?.state.doc, place);
    if (view) {
      view.dispatch({ effects: mark.of({ at: view.state.doc.line(number).from, note: isSame ? undefined : note }) });
    }
    if (place.asked) {
      notebook.activeCellIndex = index;
      void notebook.scrollToItem(index, "smart").then(() => {
        cell.editor?.setCursorPosition({ line: number - 1, column: 0 });
        view?.dom.querySelector(".msnb-revealed")?.scrollIntoView({ block: "nearest" });
      });
    }
    return true;
  }
  return false;
}

/** The line of a place in the text of a cell, which may have been edited since: a line that has moved is followed. */
function lineIn(doc: Text | undefined, { line, text }: IPlace): { number: number; isSame: boolean } {
  const number = Math.min(line ?? 1, doc?.lines ?? 1);
  const is = (n: number) => doc?.line(n).text.trim() === text?.trim();
  if (!doc || text === undefined || text === null || is(number)) {
    return { number, isSame: true };
  }
  const others = Array.from({ length: doc.lines }, (_, i) => i + 1).filter(is);
  return others.length === 1 ? { number: others[0], isSame: true } : { number, isSame: false };
}

function has(panel: { content: { widgets: readonly { model: { id: string } }[] } }, id?: string | null): boolean {
  return !!id && panel.content.widgets.some((c) => c.model.id === id);
}

export function viewOf(cell: any): EditorView | undefined {
  return cell?.editor?.editor as EditorView | undefined;
}
