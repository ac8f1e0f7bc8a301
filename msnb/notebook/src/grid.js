// A table with one Tab stop: up and down move between rows, left and right between column heads and controls of a row.
// keys.js lists the keys.
const PAGE = 10;

// `at`, {line, column}, is the position of the reader; it outlives the table, which is redrawn often.
export function oneStop(table, at) {
  const heads = [...table.tHead.querySelectorAll("button")],
    lines = [heads, ...[...table.tBodies[0].rows].map((row) => [row, ...row.querySelectorAll("button")])];
  for (const one of lines.flat()) one.tabIndex = -1;
  const stand = (line, column, focus = true) => {
    at.line = Math.max(0, Math.min(lines.length - 1, line));
    at.column = Math.max(0, Math.min(lines[at.line].length - 1, column));
    const one = lines[at.line][at.column];
    if (!one) return;
    table.querySelector('[tabindex="0"]')?.setAttribute("tabindex", -1);
    one.tabIndex = 0;
    if (focus) one.focus();
  };
  stand(at.line ?? 1, at.column ?? 0, at.focused === true); // a table that is opened takes no focus
  at.focused = false;
  const where = (target) => {
    const line = lines.findIndex((all) => all.includes(target));
    return [line, line < 0 ? -1 : lines[line].indexOf(target)];
  };
  table.addEventListener("focusin", (event) => {
    const [line, column] = where(event.target);
    if (line >= 0 && (line !== at.line || column !== at.column)) stand(line, column);
  });
  table.addEventListener("keydown", (event) => {
    const [line, column] = where(event.target);
    if (line < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const beside = line === 0 ? 0 : column,
      to = {
        ArrowDown: [line + 1, beside],
        ArrowUp: [line - 1, line === 1 ? 0 : beside],
        ArrowRight: [line, column + 1],
        ArrowLeft: [line, column - 1],
        Home: [1, 0],
        End: [lines.length - 1, 0],
        PageDown: [line + PAGE, beside],
        PageUp: [Math.max(1, line - PAGE), beside],
      }[event.key];
    if (to) stand(...to);
    else if (event.key === "Enter" || event.key === " ") {
      at.focused = true; // what is pressed may draw the table anew
      event.target.click();
      at.focused = false;
    } else return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has shortcuts of its own
  });
}
