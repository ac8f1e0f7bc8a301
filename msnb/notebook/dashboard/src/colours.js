// Colours and dashes of runs, in their order. The first ten are told apart by colour-blind eyes, too.
import { DASHES } from "./plot.js";

const LIGHT = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#a1458a",
  "#b07d00",
  "#2f8fc4",
  "#8a4b2f",
  "#5b5bd6",
  "#3f7f3f",
  "#c03a5b",
];
const DARK = [
  "#4aa3dc",
  "#f08a4b",
  "#3dbf98",
  "#d99abf",
  "#e3c558",
  "#8fd0f5",
  "#d0a080",
  "#a3a3ff",
  "#90d090",
  "#ff8fab",
];

export const colourOf = (run, dark) => (dark ? DARK : LIGHT)[run % LIGHT.length];

// Runs differ by dashes where colours do not tell them apart, as all do in forced colours.
export const dashOf = (run, forced) => DASHES[(forced ? run : Math.floor(run / LIGHT.length)) % DASHES.length];

// What charts on a canvas draw with: the colours that the style sheet gives these names now.
export function paintOf(root) {
  const probe = document.createElement("i");
  root.append(probe);
  const of = (name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  };
  const paint = Object.fromEntries(["ink", "soft", "line", "bad", "bg"].map(of));
  probe.remove();
  return paint;
}
