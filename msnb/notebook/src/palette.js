// Colours of runs and of words, in their order, for light and for dark paper. All are told apart by eyes that see no
// red, no green or no blue, too; tests/notebook/test_palette.py computes how far they stand from each other.
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
