// "msnb: tutorials, magics, keys", in the Help menu and on a card of the launcher: a page that a kernel writes.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { MainAreaWidget, Notification } from "@jupyterlab/apputils";
import type { ILauncher } from "@jupyterlab/launcher";
import type { IMainMenu } from "@jupyterlab/mainmenu";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Contents, Kernel } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { ask } from "./kernel";
import { showCode } from "./kernelpage";
import { icon } from "./panel";

const FOLDER = "msnb-lab"; // as `msnb lab` has it
const CODE = "%load_ext msnb\nfrom msnb.notebook.help_page import show\nshow()";

export function addHelp(
  app: JupyterFrontEnd,
  rendermime: IRenderMimeRegistry,
  trans: TranslationBundle,
  menu: IMainMenu | null,
  launcher: ILauncher | null,
): void {
  const { commands } = app;
  let kernel: Promise<Kernel.IKernelConnection> | null = null;
  commands.addCommand("msnb:help", {
    label: (args) =>
      args.isLauncher ? trans.__("Tutorials, magics, keys") : trans.__("msnb: tutorials, magics, keys"),
    caption: trans.__("What msnb has for a notebook"),
    icon: (args) => (args.isPalette ? undefined : icon),
    execute: () => {
      const page = showCode(app.serviceManager, rendermime, "msnb-help", CODE, trans.__("Starting Python …"));
      kernel = page.kernel;
      const widget = new MainAreaWidget({ content: page.area });
      widget.id = "msnb-help";
      widget.title.label = "msnb";
      widget.title.icon = icon;
      widget.title.closable = true;
      app.shell.add(widget, "main");
      app.shell.activateById(widget.id);
    },
  });
  commands.addCommand("msnb:open-tutorial", {
    label: trans.__("Open a tutorial of msnb"),
    execute: async (args) => {
      const name = String(args.name);
      try {
        const running = await kernel;
        const path = running ? await copied(app.serviceManager.contents, running, name) : null;
        if (path) {
          await commands.execute("docmanager:open", { path });
        }
      } catch (error) {
        Notification.error(trans.__("%1 could not be opened: %2", name, (error as Error).message));
      }
    },
  });
  menu?.helpMenu.addGroup([{ command: "msnb:help" }], 15);
  launcher?.add({ command: "msnb:help", args: { isLauncher: true }, category: "msnb", rank: 1 });
}

/** The path of the user's own copy of a tutorial; one that is there already stays as it is. */
async function copied(
  contents: Contents.IManager,
  kernel: Kernel.IKernelConnection,
  name: string,
): Promise<string | null> {
  const path = `${FOLDER}/${name}`;
  const existing = (at: string) => contents.get(at, { content: false }).catch(() => null);
  const model = (await existing(name)) ?? (await existing(path)); // `msnb lab` has its folder as root
  if (model) {
    return model.path;
  } else {
    const notebook = await ask<object>(kernel, { what: "tutorial", name });
    if (!notebook) {
      return null;
    }
    await contents.get(FOLDER, { content: false }).catch(() => contents.save(FOLDER, { type: "directory" }));
    return (await contents.save(path, { type: "notebook", format: "json", content: notebook })).path;
  }
}
