// What the keys do, shown over the view.
import css from "../../src/keys.css";

const KEYS = [
  ["← → ↑ ↓", "chart by chart"],
  [", .", "read the curve, value by value"],
  ["+ −", "zoom in; one zoom back"],
  ["0", "all of the curve"],
  ["Enter", "larger, smaller"],
  ["t", "mark what is above or below"],
  ["c", "show with others in one chart"],
  ["/", "which tags are shown"],
  ["?", "these keys"],
];

// `?` anywhere in `root` but in a field, or its button [data-do=keys], shows and hides them.
export function keysOf(root) {
  const box = document.createElement("div");
  box.className = "msnb-keys";
  box.hidden = true;
  box.setAttribute("role", "status");
  root.append(box);
  const show = (on) => {
    box.hidden = !on;
    box.innerHTML = on
      ? `<style>${css}</style><dl>${KEYS.map(([key, text]) => `<dt>${key}</dt><dd>${text}</dd>`).join("")}</dl>`
      : "";
  };
  root.addEventListener("click", (event) => {
    if (event.target.closest("[data-do=keys]")) show(box.hidden);
  });
  root.addEventListener("keydown", (event) => {
    if (event.target.matches("input:not([type=range]), textarea, select")) return;
    const closes = event.key === "Escape" && !box.hidden,
      field = event.key === "/" && root.querySelector("[data-set=filter]");
    if (event.key !== "?" && !closes && !field) return;
    if (field) field.focus();
    else show(!closes && box.hidden);
    event.preventDefault();
    event.stopPropagation();
  });
}
