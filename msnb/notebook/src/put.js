// What stands in an element, written when it is another: to write the same again would lay out the page anew, close a
// list that the reader has opened, and take the focus from what has it.
const there = new WeakMap();

// Whether it was another.
export function put(element, html) {
  if (there.get(element) === html) return false;
  there.set(element, html);
  element.innerHTML = html;
  return true;
}
