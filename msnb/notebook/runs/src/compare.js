// The runs that were ticked, side by side: settings that differ, curves, and of two the code and the graph. What stands
// in the runs' files is told by the kernel.
import { escape } from "../../src/escape.js";
import { number } from "./format.js";

const W = 300,
  H = 120;

export class Compare {
  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.element = document.createElement("div");
    this.element.className = "compare";
    this.told = new Map();
    this.element.addEventListener("click", (e) => {
      if (e.target.closest("[data-do=graph]")) this.graph(e.target.closest("[data-do=graph]"));
    });
  }
  forget() {
    this.told.clear();
  }
  async settle() {
    const { store, app } = this,
      chosen = store.chosen;
    if (!chosen.length) {
      this.element.innerHTML =
        `<p class="soft">Tick runs in the table (a click, or Space) to see how they differ: settings, curves, and of ` +
        `two also code and graph.</p>`;
      return;
    }
    const names = chosen.map((i) => store.names[i]),
      key = JSON.stringify(names),
      given = store.data.compared;
    let told = this.told.get(key) ?? (given && JSON.stringify(given.names) === key ? given : null);
    this.now = key;
    this.draw(names, told);
    if (told || !app.host) return;
    told = await app.host.ask({ compare: names });
    this.told.set(key, told);
    if (this.now === key) this.draw(names, told);
  }
  draw(names, told) {
    const { store, app } = this,
      chosen = store.chosen,
      columns = store.columns.filter((c) => c.group !== "run"),
      differs = (c) => new Set(chosen.map((i) => c.text(i))).size > 1,
      row = (c) =>
        `<tr><th scope="row" title="${escape(c.name)}"><bdi>${escape(c.name)}</bdi></th>${chosen
          .map((i) => `<td class="${c.kind}" title="${escape(c.text(i))}"><bdi>${escape(c.text(i) || "–")}</bdi></td>`)
          .join("")}</tr>`,
      part = (title, of) =>
        of.length
          ? `<tr class="part"><th scope="rowgroup" colspan="${chosen.length + 1}">${title}</th></tr>` +
            of.map(row).join("")
          : "",
      settings = columns.filter((c) => c.group === "setting"),
      data = columns.filter((c) => c.group === "data"),
      same = [...settings, ...data].filter((c) => !differs(c));
    this.element.innerHTML =
      `<div class="scroll"><table><thead><tr><th scope="col"><span class="unseen">what</span></th>${chosen
        .map(
          (i, rank) =>
            `<th scope="col" title="${escape(store.names[i])}">` +
            `<i class="dot" style="background:${app.colourOf(rank)}"></i> ` +
            `<bdi>${escape(store.names[i])}</bdi></th>`,
        )
        .join("")}</tr></thead><tbody>${part("settings", chosen.length > 1 ? settings.filter(differs) : settings)}` +
      `${part("data", chosen.length > 1 ? data.filter(differs) : data)}` +
      `${part(
        "metrics",
        columns.filter((c) => c.group === "metric" && chosen.some((i) => c.text(i))),
      )}</tbody></table></div>` +
      (chosen.length > 1 && same.length
        ? `<details><summary>${same.length} the same in all</summary><p class="same">${same
            .map((c) => `<bdi>${escape(c.name)}</bdi> <b><bdi>${escape(c.text(chosen[0]) || "–")}</bdi></b>`)
            .join(" · ")}</p></details>`
        : "") +
      (told ? this.files(names, told) : app.host ? `<p class="soft">The kernel reads the curves …</p>` : this.absent());
  }
  absent() {
    return `<p class="soft">Curves, code and graphs stand in the runs' files: run this cell again to see them.</p>`;
  }
  files(names, told) {
    if (told.problem) return `<p class="warn">${escape(told.problem)}</p>`;
    const curves = told.curves.map((one) => this.curve(one)).join(""),
      more = told.more ? `<p class="soft">and ${told.more} more curves: msnb.dashboard shows all.</p>` : "";
    let rest = "";
    if (told.code !== null && told.code !== undefined) rest += `<h3>code</h3>${this.code(told.code)}`;
    if (told.graph)
      rest += `<h3>graph</h3><p>${escape(told.graph.said)}${
        this.app.host ? ` <button data-do="graph">show the two graphs</button>` : ""
      }</p><div class="graph"></div>`;
    return (curves ? `<h3>curves</h3><div class="curves">${curves}</div>${more}` : "") + rest;
  }
  code(lines) {
    if (typeof lines === "string") return `<p class="soft">${escape(lines)}</p>`;
    return `<pre class="scroll" tabindex="0">${lines
      .map((line) => {
        const kind = { "+": "new", "-": "old", "@": "place" }[line[0]] ?? "";
        return `<span class="${kind}">${escape(line)}</span>`;
      })
      .join("\n")}</pre>`;
  }
  // {tag, runs: [[steps], [values]] per chosen run, or null}
  curve({ tag, runs }) {
    const { app } = this;
    let [a, b, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const run of runs)
      if (run) {
        for (const s of run[0]) [a, b] = [Math.min(a, s), Math.max(b, s)];
        for (const v of run[1]) if (v !== null) [low, high] = [Math.min(low, v), Math.max(high, v)];
      }
    if (!(b >= a) || !(high >= low)) return "";
    const log = low > 0 && high >= 100 * low,
      up = log ? Math.log : (v) => v,
      x = (s) => 44 + ((W - 50) * (s - a)) / (b - a || 1),
      y = (v) => H - 18 - ((H - 28) * (up(v) - up(low))) / (up(high) - up(low) || 1),
      lines = runs
        .map((run, rank) => {
          if (!run) return "";
          let pen = "",
            on = false;
          run[1].forEach((v, k) => {
            if (v === null) on = false;
            else {
              pen += `${on ? "L" : "M"}${x(run[0][k]).toFixed(1)} ${y(v).toFixed(1)}`;
              on = true;
            }
          });
          const known = run[1].flatMap((v, k) => (v === null ? [] : [k])),
            dot = known.length === 1 ? `M${x(run[0][known[0]])} ${y(run[1][known[0]])}h.01` : null;
          return `<path ${dot ? 'class="point" ' : ""}d="${dot ?? pen}" style="stroke:${app.colourOf(rank)}"/>`;
        })
        .join("");
    return (
      `<figure><figcaption title="${escape(tag)}"><bdi>${escape(tag)}</bdi></figcaption>` +
      `<svg viewBox="0 0 ${W} ${H}" role="img" ` +
      `aria-label="${escape(tag)} between ${number(low)} and ${number(high)} in steps ${a} to ${b}">` +
      `<line x1="44" x2="${W - 6}" y1="${H - 18}" y2="${H - 18}"/>` +
      `<text x="40" y="${H - 15}" text-anchor="end">${number(low)}</text>` +
      `<text x="40" y="16" text-anchor="end">${number(high)}</text><text x="44" y="${H - 5}">${number(a)}</text>` +
      `<text x="${W - 6}" y="${H - 5}" text-anchor="end">step ${number(b)}${log ? ", log" : ""}</text>` +
      `${lines}</svg></figure>`
    );
  }
  async graph(button) {
    button.disabled = true;
    const into = this.element.querySelector(".graph"),
      told = await this.app.host.ask({ graph: this.store.chosen.map((i) => this.store.names[i]) }, true);
    if (told.problem) into.textContent = told.problem;
    else await this.app.host.mountGraph(into, told.buffers, this.app.root.clientWidth > 640);
    button.remove();
  }
}
