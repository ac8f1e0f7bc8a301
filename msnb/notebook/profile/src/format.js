// Format numbers and marks of this view.
import { escape } from "../../src/escape.js";
import { formatLocation } from "../../src/location.js";

const digits = (v) => String(+v.toPrecision(3));
export function time(s) {
  if (s === null || s === undefined) return "–";
  for (const [unit, step] of [
    ["s", 1],
    ["ms", 1e-3],
    ["µs", 1e-6],
  ])
    if (s >= step * 0.9995) return `${digits(s / step)} ${unit}`;
  return s > 0 ? `${digits(s * 1e9)} ns` : "0";
}
export function count(v, unit = "") {
  for (const [p, step] of [
    ["T", 1e12],
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e3],
  ])
    if (v >= step * 0.9995) return `${digits(v / step)} ${p}${unit}`;
  return `${digits(v)}${unit ? " " + unit : ""}`;
}
export function bytes(v) {
  if (v === null || v === undefined) return "–";
  for (const [p, step] of [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 1024],
  ])
    if (v >= step) return `${digits(v / step)} ${p}`;
  return `${v} B`;
}
export const percent = (v) =>
  v === null || v === undefined
    ? "–"
    : v > 0 && v < 0.001
      ? "< 0.1 %"
      : `${v < 0.0995 ? (100 * v).toFixed(1) : Math.round(100 * v)} %`;
export const cellOf = (scope) => (scope ? scope.slice(scope.lastIndexOf("/") + 1) : "");
// The Cell and its parent: blocks of a deep network have Cells of equal names.
export const pathOf = (scope) => {
  const parts = scope.split("/");
  return parts.length > 2 && !/^(network|_backbone)-/.test(parts.at(-2))
    ? `${parts.at(-2)}/${parts.at(-1)}`
    : parts.at(-1);
};
export const HOW = {
  measured: ["■", "measured: kernels of this operator alone"],
  fused: ["◧", "measured kernels into which XLA fused several operators; divided by the work counted inside them"],
  inferred: ["□", "inferred from the kernels around it"],
  replayed: ["▣", "measured by replaying its group of fused operators alone"],
  xla: ["×", "a copy that XLA made for itself"],
};
export const line = (at) =>
  at
    ? `<button class="at" data-file="${escape(at[0])}" data-line="${at[1]}" title="Show this line">` +
      `${escape(formatLocation(at))}</button>`
    : "";
