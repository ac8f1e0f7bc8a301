// The help box with the keys of a table (grid.js), shown over a view.
import css from "./keys.css";

const KEYS = [
  ["↑ ↓", "row by row, up to the heads"],
  ["← →", "the heads; what can be pressed in a row"],
  ["Home End", "first row, last row"],
  ["Page ↑ ↓", "ten rows"],
  ["Enter", "choose the row, sort by the head"],
  ["?", "these keys"],
];

// `?` outside of fields, or the button [data-do=keys], shows and hides the list of keys; `more` are further keys of
// this view, `first` those of its tables.
export function keysOf(root, more = [], first = KEYS) {
  const box = document.createElement("div");
  box.className = "keys msnb-keys";
  box.hidden = true;
  box.setAttribute("role", "status");
  root.append(box);
  const show = (on) => {
    box.hidden = !on;
    box.innerHTML = on
      ? `<style>${css}</style><dl>${[...first, ...more]
          .map(([key, text]) => `<dt>${key}</dt><dd>${text}</dd>`)
          .join("")}</dl>`
      : "";
  };
  root.addEventListener("click", (event) => {
    if (event.target.closest("[data-do=keys]")) show(box.hidden);
    else if (!box.hidden) show(false); // it lies over what was clicked
  });
  root.addEventListener("keydown", (event) => {
    const closes = event.key === "Escape" && !box.hidden;
    if ((event.key !== "?" && !closes) || event.target.matches("input:not([type=range]), textarea, select")) return;
    event.preventDefault();
    event.stopPropagation();
    show(!closes && box.hidden);
  });
}
