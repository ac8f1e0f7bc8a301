// Keyboard shortcuts of a dashboard.
import { keysOf } from "../../src/keys.js";

const KEYS = [
  ["← → ↑ ↓", "chart by chart"],
  [", .", "read the curve, value by value"],
  ["+ −", "zoom in; one zoom back"],
  ["0", "all of the curve"],
  ["Enter", "larger, smaller"],
  ["t", "mark what is above or below"],
  ["c", "show with others in one chart"],
  ["e", "the values as a CSV file"],
  ["/", "which tags are shown"],
  ["o", "of a run's button: this run alone"],
  ["?", "these keys"],
];

export function keysOfDashboard(root) {
  keysOf(root, [], KEYS);
  root.addEventListener("keydown", (event) => {
    const field = root.querySelector("[data-set=filter]");
    if (event.key !== "/" || !field || event.target.matches("input:not([type=range]), textarea, select")) return;
    field.focus();
    event.preventDefault();
    event.stopPropagation();
  });
}
