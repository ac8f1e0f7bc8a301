// The source as a pane: the number of nodes per line, coloured by their values.
import { escape } from "../../src/escape.js";
import { roving } from "../../src/roving.js";
import { human, ramp, textColour } from "./colour.js";

export class CodePane {
  // app: {dark(), scheme(), onLine(ids), stage()}
  constructor(parent, files, app) {
    this.files = files;
    this.app = app;
    this.el = document.createElement("div");
    this.el.className = "code";
    this.el.setAttribute("role", "region");
    this.el.setAttribute("aria-label", "source");
    parent.append(this.el);
    this.off = new AbortController();
    this.el.addEventListener(
      "click",
      (e) => {
        const row = e.target.closest("[data-line]");
        if (row)
          this.app.onLine(this.nodesAt(row.dataset.file, +row.dataset.line), row.dataset.file, +row.dataset.line);
      },
      { signal: this.off.signal },
    );
    this.el.addEventListener(
      "keydown",
      (e) => {
        if (e.key === "Enter" || e.key === " ") {
          const row = e.target.closest("[data-line]");
          if (row) {
            row.click();
            e.preventDefault();
          }
        }
      },
      { signal: this.off.signal },
    );
    this.settle = roving(this.el, "[data-line]", { from: (all) => all.find((row) => row.matches(".here")) ?? all[0] });
    this.draw();
  }
  destroy() {
    this.off.abort();
    this.el.remove();
  }
  nodesAt(file, line) {
    const { stage } = this.app,
      wanted = new Set();
    stage.srcs.forEach((s, i) => {
      if (s && s[0] === file && s[1] === line) wanted.add(i);
    });
    const found = [];
    for (let i = 0; i < stage.n; i++) if (wanted.has(stage.src[i])) found.push(i);
    return found;
  }
  draw() {
    const { stage, scheme, dark } = this.app,
      sums = new Map();
    let top = 0;
    for (let i = 0; i < stage.n; i++) {
      const s = stage.sourceOf(i);
      if (!s) continue;
      const key = `${s[0]}:${s[1]}`,
        known = sums.get(key) || sums.set(key, { n: 0, v: 0 }).get(key);
      known.n++;
      if (scheme.of) {
        const v = scheme.of(i);
        if (v > 0) known.v = scheme.own && !scheme.total ? Math.max(known.v, v) : known.v + v;
        top = Math.max(top, known.v);
      }
    }
    this.el.innerHTML =
      Object.entries(this.files)
        .map(
          ([file, [first, lines]]) =>
            `<h4>${escape(file)}</h4><table>${lines
              .map((text, i) => {
                const line = first + i,
                  found = sums.get(`${file}:${line}`);
                if (!found)
                  return `<tr><td class="no">${line}</td><td></td><td class="text">${escape(text) || " "}</td></tr>`;
                const hot = scheme.of && top ? ramp(found.v / top, dark) : null,
                  mark = hot ? ` style="background:rgb(${hot});color:${textColour(hot)}"` : "";
                return (
                  `<tr data-line="${line}" data-file="${escape(file)}" role="button" ` +
                  `aria-label="line ${line}, ${found.n} nodes"><td class="no">${line}</td>` +
                  `<td class="count"${mark}>${hot ? human(found.v, scheme.unit) : found.n}</td><td class="text">` +
                  `${escape(text)}</td></tr>`
                );
              })
              .join("")}</table>`,
        )
        .join("") || `<p class="none">The source of these nodes is not known.</p>`;
    this.mark(this.at);
    this.settle();
  }
  mark(at) {
    this.at = at;
    this.el.querySelector(".here")?.classList.remove("here");
    if (!at) return;
    const row = [...this.el.querySelectorAll("[data-line]")].find(
      (r) => r.dataset.file === at[0] && +r.dataset.line === at[1],
    );
    if (!row) return;
    row.classList.add("here");
    const r = row.getBoundingClientRect(),
      box = this.el.getBoundingClientRect();
    if (r.top < box.top || r.bottom > box.bottom) this.el.scrollTop += r.top - box.top - box.height / 3;
  }
}
