// Detect dark or light: the theme of the notebook or page, or else the preference of the system.
const DARK =
  "[data-jp-theme-light='false'], .vscode-dark, .vscode-high-contrast, [data-theme='dark'], " +
  ".theme-dark, [theme='dark']";
const LIGHT = "[data-jp-theme-light='true'], .vscode-light, [data-theme='light'], [theme='light']";
const HOSTS = "[data-jp-theme-light], .vscode-light, .vscode-dark, .vscode-high-contrast, [data-theme], [theme]";

// Print in light colours, whatever the theme is.
let printing = false;
addEventListener("beforeprint", () => (printing = true));
addEventListener("afterprint", () => (printing = false));

// root: the element of a view; a widget around it can set data-msnb-theme
export function isDark(root) {
  if (printing) return false;
  const own = root.parentElement?.closest("[data-msnb-theme]")?.dataset.msnbTheme;
  if (own) return own === "dark";
  const host = root.parentElement?.closest(HOSTS) || document.body.closest(HOSTS);
  if (host?.matches(DARK)) return true;
  return host?.matches(LIGHT) ? false : matchMedia("(prefers-color-scheme: dark)").matches;
}
