// What is selected here, for the dashboards that stand in the same notebook: the ticked runs, or else those that the
// filter and the brushes leave; no ids are all of them.
export class Linked {
  constructor(app) {
    this.app = app;
    this.told = "";
  }
  tell() {
    const { store } = this.app,
      { ids } = store.data,
      narrowed = store.filter || store.brushes.size ? store.picked : [],
      some = (store.chosen.length ? store.chosen : narrowed).map((i) => ids[i]),
      text = some.join("\0");
    if (text === this.told) return;
    this.told = text;
    window.dispatchEvent(new CustomEvent("msnb:runs", { detail: { ids: some, from: this.app } }));
  }
}
