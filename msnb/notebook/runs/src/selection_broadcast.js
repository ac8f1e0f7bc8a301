// Send the selection to the dashboards in the same notebook: the ticked runs, or else those that pass the filter and
// the brushes; an empty list means all.
export class SelectionBroadcast {
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
