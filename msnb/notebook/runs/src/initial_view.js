// The initial state of the view: the columns that differ between runs, and the target metric.
const MACHINE = /^system\//; // what a run says of the machine it ran on
const AXES = 8;

export function initialView(store) {
  const { columns } = store,
    few = (c) => c.kind !== "words" || c.words.length <= 30,
    of = (...groups) =>
      columns.filter((c) => groups.includes(c.group) && c.varies && (c.kind !== "words" || c.words.length)),
    settings = of("setting", "data"),
    metrics = of("metric"),
    wanted = (c) => c.group === "metric" && c.name === store.data.target,
    target = metrics.find(wanted) ?? metrics[0] ?? columns.find(wanted),
    others = metrics.filter((c) => c !== target && !MACHINE.test(c.name)),
    ends = target ? [target] : [];
  const keys = (list) => list.map((c) => c.key);
  return {
    target: target?.key ?? "",
    colour: target?.key ?? "",
    axes: keys([...settings.filter(few).slice(0, AXES), ...others.slice(0, settings.length > 5 ? 0 : 1), ...ends]),
    columns: [
      "run:state",
      ...keys([...ends, ...others.slice(0, 2), ...settings.slice(0, 8)]),
      "run:duration",
      "run:started",
    ],
    x: keys(settings.filter((c) => c.kind === "number"))[0] ?? keys(settings)[0] ?? "run:started",
    y: target?.key ?? "run:duration",
    tab: "table",
    side: "scatter",
    by: "run:started",
    down: true,
  };
}
