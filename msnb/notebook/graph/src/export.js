// Export the graph: as text to the clipboard, or as a picture.
import { asText, asDot, asJson, asSvg, asPng, toClipboard, download } from "./copy.js";

export class GraphExport {
  constructor(app) {
    this.app = app;
    app.on(app.root.querySelector(".copy"), "change", (e) => {
      const form = e.target.value;
      e.target.value = "";
      this.take(form);
    });
  }
  async take(form) {
    const { app } = this,
      { pane, stage, colouring } = app;
    try {
      if (form === "png") {
        download(await asPng(asSvg(pane, colouring.colours)), `${stage.graph}.png`);
        app.announce("saved as PNG");
        return;
      }
      // The kernel prints loops and branches as separate functions; without a kernel they are listed flat.
      const text =
        form === "svg"
          ? asSvg(pane, colouring.colours)
          : form !== "json" && app.host.live
            ? await this.printed(form, stage.name)
            : { text: asText, dot: asDot, json: asJson }[form](stage);
      const done = await toClipboard(text, app.root);
      app.announce(done ? `copied ${text.length.toLocaleString("en")} characters` : "copying is not allowed here");
      app.copied = text;
    } catch (fault) {
      app.announce(fault.message);
    }
  }
  printed(form, stage) {
    return new Promise((done, fail) => {
      this.answer = done;
      setTimeout(() => fail(new Error("the kernel is busy; try again when it is idle")), 4500);
      this.app.host.ask("print", { form, stage });
    });
  }
}
