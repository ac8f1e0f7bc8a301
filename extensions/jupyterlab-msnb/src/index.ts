// msnb in JupyterLab. Notebook 7 has no side bars that are always there: it gets the rest, and what stands in
// JupyterLab's status bar stands in the toolbar of the notebook there.
import { ILabShell, ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette, InputDialog, MainAreaWidget, Notification } from "@jupyterlab/apputils";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { ICompletionProviderManager } from "@jupyterlab/completer";
import { ILauncher } from "@jupyterlab/launcher";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { INotebookTracker, NotebookActions, NotebookPanel } from "@jupyterlab/notebook";
import { OutputArea, OutputAreaModel, SimplifiedOutputArea } from "@jupyterlab/outputarea";
import { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import { IStatusBar } from "@jupyterlab/statusbar";
import { ITranslator, nullTranslator } from "@jupyterlab/translation";
import { Breakpoints } from "./breakpoints";
import { showFiles } from "./files";
import { addHelp } from "./help";
import { IPlace, kernelOf } from "./kernel";
import { Live } from "./live";
import { Model } from "./model";
import { Options, highlighting } from "./options";
import { Panel, icon } from "./panel";
import { showReopened } from "./reopened";
import { mistaken, reveal, revealed } from "./source";
import { Status } from "./status";

const CATEGORY = "msnb";

const plugin: JupyterFrontEndPlugin<void> = {
  id: "jupyterlab-msnb:plugin",
  description: "Live graphs, networks, compiled programs and memory of msnb.",
  autoStart: true,
  requires: [INotebookTracker, IRenderMimeRegistry],
  optional: [
    ICommandPalette,
    ILabShell,
    ILayoutRestorer,
    IStatusBar,
    ICompletionProviderManager,
    IEditorExtensionRegistry,
    IMainMenu,
    ILauncher,
    ITranslator,
  ],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    rendermime: IRenderMimeRegistry,
    palette: ICommandPalette | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    statusBar: IStatusBar | null,
    completers: ICompletionProviderManager | null,
    editors: IEditorExtensionRegistry | null,
    menu: IMainMenu | null,
    launcher: ILauncher | null,
    translator: ITranslator | null,
  ) => {
    const trans = (translator ?? nullTranslator).load("jupyterlab_msnb");
    const { commands } = app;
    const model = new Model(tracker);
    const shown = new Set<Status>();
    const say = (text: string) => shown.forEach((status) => status.say(text));
    const made = () => {
      const status = new Status(model, trans);
      shown.add(status);
      status.disposed.connect(() => shown.delete(status));
      return status;
    };
    const live = new Live(tracker, () => model.state !== null, say);
    const breakpoints = new Breakpoints(tracker, () => model.state !== null, model.changed, trans);

    showReopened(tracker);
    showFiles(app, rendermime, trans);
    addHelp(app, rendermime, trans, menu, launcher);
    palette?.addItem({ command: "msnb:help", category: CATEGORY });

    // --- what the commands do
    const edited = trans.__("Edited: the graph shows the line that ran");
    const show = (place: IPlace) => reveal(tracker, { ...place, asked: true }, edited);
    const graphOf = async (expression: string) => {
      const panel = tracker.currentWidget;
      const kernel = kernelOf(panel);
      if (!panel || !kernel) {
        return;
      }
      const rendermime = panel.content.rendermime;
      const content: OutputArea = new SimplifiedOutputArea({
        model: new OutputAreaModel({ trusted: true }),
        rendermime,
      });
      content.addClass("msnb-Tab");
      content.future = kernel.requestExecute({ code: `%ms_ir ${expression}`, store_history: false });
      const widget = new MainAreaWidget({ content });
      widget.title.label = trans.__("Graph of %1", expression);
      widget.title.icon = icon;
      widget.title.closable = true;
      app.shell.add(widget, "main", labShell ? { mode: "split-right", ref: panel.id } : {});
      app.shell.activateById(widget.id);
    };

    // --- commands
    const add = (id: string, label: string, execute: (args: any) => unknown, more: object = {}) => {
      commands.addCommand(`msnb:${id}`, { label, execute, ...more });
      palette?.addItem({ command: `msnb:${id}`, category: CATEGORY });
    };
    const loaded = { isEnabled: () => model.state !== null };
    const open = { isEnabled: () => tracker.currentWidget !== null };
    add("mode-graph", trans.__("Mode: GRAPH"), () => model.change({ mode: "GRAPH" }), {
      ...loaded,
      isToggled: () => model.state?.mode === "GRAPH",
    });
    add("mode-pynative", trans.__("Mode: PYNATIVE"), () => model.change({ mode: "PYNATIVE" }), {
      ...loaded,
      isToggled: () => model.state?.mode === "PYNATIVE",
    });
    add(
      "live",
      trans.__("Graphs follow typing"),
      () => {
        live.on = !live.on;
        commands.notifyCommandChanged("msnb:live");
      },
      { isToggled: () => live.on },
    );
    add(
      "graph",
      trans.__("Show the graph of…"),
      async (args: { expression?: string }) => {
        const expression =
          args.expression ??
          (
            await InputDialog.getText({
              title: trans.__("Show the graph of"),
              placeholder: "net(x)",
              okLabel: trans.__("Show"),
            })
          ).value;
        if (expression) {
          await graphOf(expression);
        }
      },
      loaded,
    );
    add("breakpoint", trans.__("Breakpoint at this line"), () => breakpoints.toggleHere(), loaded);
    add(
      "mark-cell",
      trans.__("Begin this cell with %%%%mindspore"),
      () => {
        const cell = tracker.activeCell;
        const text = cell?.model.sharedModel.getSource() ?? "";
        if (cell && cell.model.type === "code" && !/^%%/.test(text)) {
          cell.model.sharedModel.setSource(`%%mindspore\n${text}`);
        }
      },
      open,
    );
    add(
      "load",
      trans.__("Load msnb in this notebook"),
      async () => {
        const kernel = kernelOf(tracker.currentWidget);
        const reply = await kernel?.requestExecute({ code: "%load_ext msnb", store_history: false }).done;
        if (reply?.content.status === "error") {
          Notification.error(trans.__("msnb could not be loaded: %1", reply.content.evalue));
        }
        model.soon();
      },
      open,
    );
    commands.addCommand("msnb:reveal", {
      label: trans.__("Show a source line"),
      execute: (place: any) => reveal(tracker, place, edited),
    });
    // The graph view says where a node comes from; it knows the page, not JupyterLab.
    window.addEventListener(
      "msnb:reveal",
      (event) => void commands.execute("msnb:reveal", (event as CustomEvent).detail),
    );

    // --- where they show
    if (labShell) {
      const panel = new Panel(model, trans, show, (name) => void graphOf(name));
      labShell.add(panel, "right", { rank: 900 });
      restorer?.add(panel, panel.id);
      add("panel", trans.__("Networks, programs and memory"), () => labShell.activateById(panel.id));
    }
    if (statusBar) {
      statusBar.registerStatusItem("jupyterlab-msnb:status", {
        item: made(),
        align: "left",
        rank: 20,
        isActive: () => model.state !== null,
        activeStateChanged: model.changed as any,
      });
    } else {
      app.docRegistry.addWidgetExtension("Notebook", {
        createNew: (panel: NotebookPanel) => {
          const status = made();
          if (!panel.toolbar.insertBefore("spacer", "msnb", status)) {
            panel.toolbar.addItem("msnb", status);
          }
          return status;
        },
      });
    }
    completers?.registerProvider(new Options());
    editors?.addExtension({
      name: "msnb:cells",
      factory: () =>
        EditorExtensionRegistry.createImmutableExtension([highlighting, revealed, mistaken, breakpoints.extension]),
    });
    model.changed.connect(() =>
      ["mode-graph", "mode-pynative", "graph"].forEach((id) => commands.notifyCommandChanged(`msnb:${id}`)),
    );
    NotebookActions.executionScheduled.connect(() => say(""));
  },
};

export default plugin;
