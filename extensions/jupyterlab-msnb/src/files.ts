// A double click on a model or a checkpoint shows what `msnb.view` shows of it. The page fetches nothing of the file:
// a kernel reads it.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { ABCWidgetFactory, DocumentRegistry, DocumentWidget, TextModelFactory } from "@jupyterlab/docregistry";
import type { OutputArea } from "@jupyterlab/outputarea";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Contents, ServiceManager } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { showCode } from "./kernelpage";
import { icon } from "./panel";

const FACTORY = "msnb";
const MODEL = "msnb-unread";
const listTypes = (trans: TranslationBundle) => [
  { name: "msnb-onnx", displayName: trans.__("ONNX model"), extensions: [".onnx"] },
  { name: "msnb-mindir", displayName: trans.__("MindIR model"), extensions: [".mindir"] },
  { name: "msnb-checkpoint", displayName: trans.__("MindSpore checkpoint"), extensions: [".ckpt"] },
  { name: "msnb-safetensors", displayName: trans.__("Safetensors checkpoint"), extensions: [".safetensors"] },
];

/** A model of a document that stays on the server. */
class Unread extends TextModelFactory {
  get name(): string {
    return MODEL;
  }

  get fileFormat(): Contents.FileFormat {
    return null;
  }
}

class Viewer extends ABCWidgetFactory<DocumentWidget<OutputArea>> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions,
    private services: ServiceManager.IManager,
    private rendermime: IRenderMimeRegistry,
    private trans: TranslationBundle,
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget<OutputArea> {
    const path = context.localPath;
    const name = path.split("/").pop() ?? path;
    const code = `%load_ext msnb\nfrom msnb.notebook.lab import show_file\nshow_file(${JSON.stringify(name)})`;
    const { area } = showCode(this.services, this.rendermime, path, code, this.trans.__("Reading %1 …", name));
    const widget = new DocumentWidget({ content: area, context });
    widget.title.icon = icon;
    return widget;
  }
}

export function showFiles(app: JupyterFrontEnd, rendermime: IRenderMimeRegistry, trans: TranslationBundle): void {
  const registry = app.docRegistry;
  registry.addModelFactory(new Unread());
  const list = listTypes(trans);
  for (const type of list) {
    registry.addFileType({
      ...type,
      icon,
      contentType: "file",
      fileFormat: null,
      mimeTypes: ["application/octet-stream"],
    });
  }
  const types = list.map((type) => type.name);
  const options = { name: FACTORY, modelName: MODEL, fileTypes: types, defaultFor: types, readOnly: true };
  registry.addWidgetFactory(new Viewer(options, app.serviceManager, rendermime, trans));
}
