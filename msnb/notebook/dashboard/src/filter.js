// The filter field above the charts, shared by all tabs.
import { escape } from "../../src/escape.js";

export const filterField = (app) =>
  `<label>show <input type="search" data-set="filter" placeholder="words or /regex/" value="${escape(app.filter)}" ` +
  `aria-label="which tags: words or /regex/"></label>`;

// Describe the number of shown items; `what` is the noun of one item.
export function counted(app, shown, all, what) {
  if (!matcher(app.filter)) return "this is no regular expression yet; all are shown";
  return shown < all ? `${shown} of ${all}` : `${all} ${what}${all === 1 ? "" : "s"}`;
}

// Return a test for tags: a /regular expression/, or words that must all occur; null for an invalid expression.
export function matcher(text) {
  const trimmed = text.trim(),
    regex = trimmed.match(/^\/(.*?)(?:\/(i?))?$/);
  if (regex) {
    try {
      const made = new RegExp(regex[1], regex[2] ?? "");
      return (tag) => made.test(tag);
    } catch {
      return null;
    }
  }
  const words = trimmed.toLowerCase().split(/\s+/).filter(Boolean);
  return (tag) => words.every((word) => tag.toLowerCase().includes(word));
}
