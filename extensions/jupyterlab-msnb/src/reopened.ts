// A notebook that is opened again has no kernel with its widgets: where JupyterLab would say that a model was not
// found, or wait for a kernel that does not start, the page that a view of msnb also left in the notebook is shown.
import { CodeCell } from "@jupyterlab/cells";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import { Widget } from "@lumino/widgets";

const LOST = /model not found/i;
const LOADING = /^loading widget/i;
const PATIENCE = 2500; // milliseconds; a kernel that starts later puts the live view in the page's place
// How the HTML of a view begins: a picture with its page, or the frame alone that views left before.
const VIEW = /^<(div class="msnb-view"|iframe srcdoc=")/;

export function showReopened(tracker: INotebookTracker): void {
  tracker.widgetAdded.connect((_, panel) => {
    const waiting = new WeakSet<Node>();
    const look = () => repair(panel, waiting);
    const observer = new MutationObserver(look);
    void panel.context.ready.then(() => {
      observer.observe(panel.content.node, { childList: true, subtree: true });
      look();
    });
    panel.disposed.connect(() => observer.disconnect());
  });
}

function repair(panel: NotebookPanel, waiting: WeakSet<Node>): void {
  for (const node of panel.content.node.querySelectorAll<HTMLElement>(".jp-OutputArea-output")) {
    if (says(node, LOST) && node.classList.contains("jupyter-widgets")) {
      void replace(panel, node);
    } else if (says(node, LOADING) && !waiting.has(node)) {
      waiting.add(node);
      window.setTimeout(() => {
        waiting.delete(node);
        if (node.isConnected && says(node, LOADING)) {
          void replace(panel, node);
        }
      }, PATIENCE);
    }
  }
}

/** Only the bare message: a living widget has elements of its own, and text that may say anything. */
function says(node: HTMLElement, message: RegExp): boolean {
  return node.childElementCount === 0 && message.test(node.textContent ?? "");
}

async function replace(panel: NotebookPanel, node: HTMLElement): Promise<void> {
  const cell = panel.content.widgets.find((c) => c instanceof CodeCell && c.node.contains(node)) as
    CodeCell | undefined;
  const index = cell?.outputArea.widgets.findIndex((w) => w.node.contains(node)) ?? -1;
  if (!cell || index < 0) {
    return;
  }
  const output = cell.outputArea.model.get(index);
  // No other widget's fallback is touched.
  const page = output.data["text/html"];
  if (!VIEW.test(Array.isArray(page) ? page.join("") : String(page ?? ""))) {
    return;
  }
  const renderer = panel.content.rendermime.createRenderer("text/html");
  await renderer.renderModel(output);
  node.textContent = "";
  Widget.attach(renderer, node);
}
