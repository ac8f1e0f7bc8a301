// A tab that shows what some code displays: it has a kernel of its own, which ends with the tab.
import type { IOutputAreaModel, OutputArea } from "@jupyterlab/outputarea";
import { OutputAreaModel, SimplifiedOutputArea } from "@jupyterlab/outputarea";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Kernel, ServiceManager } from "@jupyterlab/services";
import { UUID } from "@lumino/coreutils";

export interface IKernelPage {
  area: OutputArea;
  /** The kernel, once it runs. */
  kernel: Promise<Kernel.IKernelConnection>;
}

/** Run code in a new kernel; `path` is a file on the server in whose folder the kernel starts. */
export function showCode(
  services: ServiceManager.IManager,
  rendermime: IRenderMimeRegistry,
  path: string,
  code: string,
  meanwhile: string,
): IKernelPage {
  const model: IOutputAreaModel = new OutputAreaModel({ trusted: true });
  model.add({ output_type: "stream", name: "stdout", text: meanwhile });
  const area = new SimplifiedOutputArea({ model, rendermime });
  area.addClass("msnb-Tab");
  const run = async () => {
    await Promise.all([services.ready, services.kernelspecs.ready]);
    const session = await services.sessions.startNew({
      path: `${path}-${UUID.uuid4()}`,
      type: "file",
      name: path,
      kernel: { name: services.kernelspecs.specs?.default },
    });
    if (area.isDisposed) {
      void session.shutdown();
    }
    area.disposed.connect(() => void session.shutdown());
    if (!session.kernel) {
      throw new Error("No kernel could be started.");
    }
    area.future = session.kernel.requestExecute({ code, store_history: false, allow_stdin: false });
    return session.kernel;
  };
  const kernel = run();
  kernel.catch((error) => {
    model.clear();
    model.add({ output_type: "stream", name: "stderr", text: `${(error as Error).message}\n` });
  });
  return { area, kernel };
}
