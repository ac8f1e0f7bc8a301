// Colours of runs and categories, in their order, for light and dark pages. Readers with any colour blindness can
// distinguish them; tests/notebook/test_palette.py computes their distances.
export const LIGHT = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#9870e8",
  "#683058",
  "#282088",
  "#b07898",
  "#880878",
  "#b05040",
  "#384008",
];
export const DARK = [
  "#4aa3dc",
  "#f08a4b",
  "#00e8d8",
  "#c858a8",
  "#f8d860",
  "#609858",
  "#c8f8c0",
  "#e04878",
  "#888818",
  "#d09878",
];
