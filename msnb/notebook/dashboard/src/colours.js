// Colours and dashes of runs, in their order.
import { DARK, LIGHT } from "../../src/palette.js";
import { DASHES } from "./plot.js";

export const colourOf = (run, dark) => (dark ? DARK : LIGHT)[run % LIGHT.length];

// Runs of one colour have different dashes; with forced colours all runs have one colour.
export const dashOf = (run, forced) => DASHES[(forced ? run : Math.floor(run / LIGHT.length)) % DASHES.length];

// Colours of canvases: the present values of the style sheet's variables.
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
