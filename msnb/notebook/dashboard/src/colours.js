// Colours and dashes of runs, in their order.
import { DARK, LIGHT } from "../../src/palette.js";
import { DASHES } from "./plot.js";

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
