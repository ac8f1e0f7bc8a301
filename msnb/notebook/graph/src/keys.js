// The help box with the keys of a pane, shown until the next key or click.
const KEYS = [
  ["Enter", "select a box; open or close a scope"],
  ["arrows", "next box; with Shift or without a selection, move the graph"],
  ["Tab, then arrows", "through a group of buttons, the links of the panel, the lines of the source"],
  ["+, −", "zoom"],
  ["0, f", "fit the graph"],
  ["1, Home", "first view"],
  ["Page Up, Page Down", "up and down by a screen"],
  ["/", "search"],
  ["Escape", "clear the search, then the selection"],
  ["?", "these keys"],
];
const html =
  `<div class="help" role="dialog" aria-label="keys of the graph" tabindex="-1"><h4>Keys</h4><table>` +
  KEYS.map(([key, does]) => `<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`).join("") +
  `</table></div>`;

export function showKeys(body, done) {
  body.insertAdjacentHTML("beforeend", html);
  const help = body.lastElementChild;
  for (const type of ["keydown", "click"])
    help.addEventListener(type, (e) => {
      e.preventDefault();
      e.stopPropagation();
      help.remove();
      done();
    });
  help.focus();
}
