// The first line of a %%mindspore cell: its colours, and its completion without a kernel.
import type { CompletionHandler, ICompletionContext, ICompletionProvider } from "@jupyterlab/completer";
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, DecorationSet, EditorView, ViewPlugin, ViewUpdate } from "@codemirror/view";

const MAGIC = "%%mindspore";
const VALUES: Record<string, string[]> = {
  "-m": ["graph", "pynative"],
  "--mode": ["graph", "pynative"],
  "-d": ["CPU", "GPU", "TPU"],
  "--device": ["CPU", "GPU", "TPU"],
};
const OPTIONS: Record<string, string> = {
  "--mode": "graph or pynative, for this cell",
  "--device": "CPU, GPU or TPU, for this cell",
  "--ir": "show the graph of each Cell and compiled function that ran",
  "--time": "show wall, compile and run seconds",
};
const SHORT = ["-m", "-d"];

const words = {
  magic: Decoration.mark({ class: "msnb-magic" }),
  option: Decoration.mark({ class: "msnb-option" }),
  value: Decoration.mark({ class: "msnb-value" }),
  wrong: Decoration.mark({ class: "msnb-wrong", attributes: { title: "not an option of %%mindspore" } }),
};

function kindOf(word: string, before: string): keyof typeof words {
  if (word === MAGIC) {
    return "magic";
  }
  const values = VALUES[before];
  if (values) {
    return values.some((v) => v.toLowerCase() === word.toLowerCase()) ? "value" : "wrong";
  }
  return word in OPTIONS || SHORT.includes(word) ? "option" : "wrong";
}

function decorate(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const { text } = view.state.doc.line(1);
  if (new RegExp(`^${MAGIC}(\\s|$)`).test(text)) {
    let before = "";
    for (const match of text.matchAll(/\S+/g)) {
      const from = match.index ?? 0;
      builder.add(from, from + match[0].length, words[kindOf(match[0], before)]);
      before = match[0];
    }
  }
  return builder.finish();
}

export const highlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }
    update(update: ViewUpdate): void {
      if (update.docChanged) {
        this.decorations = decorate(update.view);
      }
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

export class Options implements ICompletionProvider {
  readonly identifier = "msnb:options";
  readonly rank = 1100; // above the kernel's, which a busy kernel does not answer
  readonly renderer = null;

  async isApplicable(context: ICompletionContext): Promise<boolean> {
    const editor = context.editor;
    return !!editor && editor.getCursorPosition().line === 0 && (editor.getLine(0) ?? "").startsWith(`${MAGIC} `);
  }

  async fetch(request: CompletionHandler.IRequest): Promise<CompletionHandler.ICompletionItemsReply> {
    const typed = request.text.slice(0, request.offset).split("\n")[0];
    const before = typed.split(/\s+/);
    const word = before.pop() ?? "";
    const values = VALUES[before[before.length - 1]];
    const offered = values ?? Object.keys(OPTIONS).filter((o) => !before.includes(o));
    const items = offered
      .filter((o) => o.toLowerCase().startsWith(word.toLowerCase()))
      .map((label) => ({ label, type: values ? "value" : "option", documentation: OPTIONS[label] ?? "" }));
    return { start: request.offset - word.length, end: request.offset, items };
  }
}
