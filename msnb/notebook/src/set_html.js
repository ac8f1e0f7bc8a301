// Set the content of an element only if it has changed. Writing equal content would compute the layout again, close an
// open list and lose the focus.
const there = new WeakMap();

// Return true if the content has changed.
export function setHtml(element, html) {
  if (there.get(element) === html) return false;
  there.set(element, html);
  element.innerHTML = html;
  return true;
}
