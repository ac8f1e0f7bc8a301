// A group of controls with one Tab stop (a roving tabindex): arrows, Home and End move between them.
const STEP = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

// `what` selects the controls in `box`. Call the returned function after they were redrawn. `from` selects the one
// where Tab arrives (default: the first), `order` sorts them for the arrows (default: the order in the document).
export function roving(box, what, { from = (all) => all[0], order } = {}) {
  const all = () => {
    const there = [...box.querySelectorAll(what)].filter((one) => !one.hidden && !one.disabled);
    return order ? there.sort(order) : there;
  };
  const stand = (at, list = all()) => {
    for (const one of list) one.setAttribute("tabindex", one === at ? 0 : -1);
  };
  const settle = () => {
    const list = all();
    stand(list.includes(document.activeElement) ? document.activeElement : from(list), list);
  };
  box.addEventListener("focusin", (event) => {
    const one = event.target.closest?.(what);
    if (one && box.contains(one)) stand(one);
  });
  box.addEventListener("keydown", (event) => {
    const one = event.target.closest?.(what);
    if (!one || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const list = all().filter((other) => other.getClientRects().length), // some are not drawn in a narrow view
      to = { Home: 0, End: list.length - 1 }[event.key] ?? list.indexOf(one) + STEP[event.key];
    if (Number.isNaN(to)) return;
    list[to]?.focus();
    event.preventDefault();
    event.stopPropagation(); // the notebook has shortcuts of its own
  });
  settle();
  return settle;
}
