// Format numbers and create elements.
import { SHARES } from "./labels.js";

export const number = (v) =>
  v === null || v === undefined
    ? null
    : typeof v === "string"
      ? v === "inf"
        ? Infinity
        : v === "-inf"
          ? -Infinity
          : NaN
      : v;
export const isFiniteNumber = (v) => v !== null && Number.isFinite(v);
export function formatNumber(v, name) {
  if (v === null) return "";
  if (!Number.isFinite(v)) return Number.isNaN(v) ? "NaN" : v > 0 ? "∞" : "−∞";
  if (SHARES.has(name)) return `${(100 * v).toFixed(v && v < 0.1 ? 1 : 0)} %`;
  if (v === 0) return "0";
  const text = Math.abs(v) >= 1e4 || Math.abs(v) < 1e-3 ? v.toExponential(1) : String(+v.toPrecision(3));
  return text.replace("e+", "e").replace(/-/g, "−");
}
export const element = (tag, text = "", kind = "") => {
  const made = document.createElement(tag);
  made.innerHTML = text;
  if (kind) made.className = kind;
  return made;
};
