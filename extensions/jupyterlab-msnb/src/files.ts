// A double click on a model or a checkpoint shows what `msnb.view` shows of it. The page fetches nothing of the file:
// a kernel reads it.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { ABCWidgetFactory, DocumentRegistry, DocumentWidget, TextModelFactory } from "@jupyterlab/docregistry";
import type { OutputArea } from "@jupyterlab/outputarea";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Contents, ServiceManager } from "@jupyterlab/services";
import { showCode } from "./kernelpage";
import { icon } from "./panel";

const FACTORY = "msnb";
const MODEL = "msnb-unread";
const TYPES = [
  { name: "msnb-onnx", displayName: "ONNX model", extensions: [".onnx"] },
  { name: "msnb-mindir", displayName: "MindIR model", extensions: [".mindir"] },
  { name: "msnb-checkpoint", displayName: "MindSpore checkpoint", extensions: [".ckpt"] },
  { name: "msnb-safetensors", displayName: "Safetensors checkpoint", extensions: [".safetensors"] },
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
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget<OutputArea> {
    const path = context.localPath;
    const name = path.split("/").pop() ?? path;
    const code = `%load_ext msnb\nfrom msnb.notebook.lab import show_file\nshow_file(${JSON.stringify(name)})`;
    const { area } = showCode(this.services, this.rendermime, path, code, `Reading ${name} …`);
    const widget = new DocumentWidget({ content: area, context });
    widget.title.icon = icon;
    return widget;
  }
}

export function showFiles(app: JupyterFrontEnd, rendermime: IRenderMimeRegistry): void {
  const registry = app.docRegistry;
  registry.addModelFactory(new Unread());
  for (const type of TYPES) {
    registry.addFileType({
      ...type,
      icon,
      contentType: "file",
      fileFormat: null,
      mimeTypes: ["application/octet-stream"],
    });
  }
  const types = TYPES.map((type) => type.name);
  const options = { name: FACTORY, modelName: MODEL, fileTypes: types, defaultFor: types, readOnly: true };
  registry.addWidgetFactory(new Viewer(options, app.serviceManager, rendermime));
}
