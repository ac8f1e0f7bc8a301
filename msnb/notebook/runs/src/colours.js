// Colours of runs: by a column, and for a comparison.
import { DARK, LIGHT } from "../../src/palette.js";

export const STEPS = 24;
const RAMPS = {
  light: ["#2c5aa0", "#3f97b7", "#6fb391", "#dcab34", "#d4541b"],
  dark: ["#6b9be6", "#4fb3cf", "#8fd3a4", "#f0cf6a", "#f58a4b"],
};
const WORDS = { light: LIGHT, dark: DARK };

const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
function ramp(stops) {
  return Array.from({ length: STEPS }, (_, i) => {
    const t = (i / (STEPS - 1)) * (stops.length - 1),
      k = Math.min(Math.floor(t), stops.length - 2),
      [from, to] = [channels(stops[k]), channels(stops[k + 1])];
    return `rgb(${from.map((c, j) => Math.round(c + (to[j] - c) * (t - k))).join(",")})`;
  });
}
const MADE = { light: ramp(RAMPS.light), dark: ramp(RAMPS.dark) };

// {colours, of: (i) => index of the colour of a run, -1 for none}
export function colouring(axis, theme, forced) {
  if (forced) return { colours: [forced], of: () => 0 };
  if (!axis) return { colours: [WORDS[theme][0]], of: () => 0 };
  const { values, kind } = axis.column;
  if (kind === "words") {
    const colours = WORDS[theme];
    return { colours, of: (i) => (Number.isNaN(values[i]) ? -1 : values[i] % colours.length) };
  }
  return {
    colours: MADE[theme],
    of: (i) => {
      const t = axis.to(values[i]);
      return Number.isFinite(t) ? Math.max(0, Math.min(STEPS - 1, Math.round(t * (STEPS - 1)))) : -1;
    },
  };
}
export const chosenColour = (rank, theme) => WORDS[theme][rank % WORDS[theme].length];
