// Questions to the kernel of the notebook in front: silent requests that leave no trace in the notebook.
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel } from "@jupyterlab/services";

export interface IPlace {
  cell?: string | null;
  file?: string;
  line?: number;
  text?: string | null; // the line as the graph has it
}

export interface IState {
  version: string;
  mode: "GRAPH" | "PYNATIVE";
  device: string;
  devices: string[];
  cells: (IPlace & {
    name: string;
    kind: string;
    numbers: number;
    bytes: number;
    training: boolean;
    programs: number;
  })[];
  programs: (IPlace & { name: string; nodes: number; calls: number; seconds: number; inputs: string[] })[];
  memory: {
    arrays: number;
    bytes: number;
    parameters: number;
    in_use?: number | null;
    peak?: number | null;
    limit?: number | null;
  };
}

// Evaluates to None in a kernel that has not loaded msnb's extension; loads nothing there.
const ASK =
  `__import__("msnb.notebook.lab").notebook.lab.ask(%) ` +
  `if "msnb.notebook.kernel.magics" in __import__("sys").modules else None`;

export function kernelOf(panel: NotebookPanel | null): Kernel.IKernelConnection | null {
  const kernel = panel?.sessionContext?.session?.kernel ?? null;
  const language = panel?.sessionContext?.kernelPreference?.language;
  return kernel && (!language || language === "python") ? kernel : null;
}

/** The answer to a question, null where msnb is not loaded. Throws an Error with the kernel's sentence. */
export async function ask<T>(kernel: Kernel.IKernelConnection, question: object): Promise<T | null> {
  // A JSON string literal is a Python string literal too.
  const literal = JSON.stringify(JSON.stringify(question));
  const future = kernel.requestExecute({
    code: "",
    silent: true,
    store_history: false,
    allow_stdin: false,
    stop_on_error: false,
    user_expressions: { r: ASK.replace("%", () => literal) },
  });
  const reply = await future.done;
  if (reply?.content.status !== "ok") {
    return null;
  }
  const found: any = reply.content.user_expressions?.r;
  const answer = found?.data?.["application/json"];
  if (answer?.error) {
    throw new Error(answer.error);
  }
  return answer ?? null;
}

/** Calls `changed` when another notebook comes to the front, its kernel changes, or one of its cells has run. */
export function watchNotebooks(
  tracker: INotebookTracker,
  executed: { connect(slot: () => void): boolean },
  changed: () => void,
): void {
  const known = new WeakSet<NotebookPanel>();
  tracker.currentChanged.connect((_, panel) => {
    if (panel && !known.has(panel)) {
      known.add(panel);
      panel.sessionContext.kernelChanged.connect(changed);
      panel.sessionContext.statusChanged.connect((_, status) => {
        if (status === "restarting" || status === "dead") {
          changed();
        }
      });
    }
    changed();
  });
  executed.connect(changed);
  changed();
}
