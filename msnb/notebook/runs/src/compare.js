// The ticked runs side by side: settings that differ, curves, and for two runs the code and the graph. The kernel
// sends the contents of the files.
import { escape } from "../../src/escape.js";
import { setHtml } from "../../src/set_html.js";
import { number } from "./format.js";

const W = 300,
  H = 120,
  LEFT = 56; // of the numbers beside the axis
const PARTS = ["settings", "same", "said", "curves", "code", "graph"],
  RUNNING = JSON.stringify("running"),
  HINT =
    `<p class="soft">Tick runs in the table (a click, or Space) to see how they differ: settings, curves, and of ` +
    `two also code and graph.</p>`;

export class Compare {
  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.element = document.createElement("div");
    this.element.className = "compare";
    this.element.innerHTML = PARTS.map((name) => `<div data-part="${name}"></div>`).join("");
    this.told = new Map(); // what was asked -> answer of the kernel
    this.asked = new Set(); // what need not be asked again
    this.element.addEventListener("click", (e) => {
      if (e.target.closest("[data-do=graph]")) this.graph(e.target.closest("[data-do=graph]"));
    });
    // An open section stays open when its text is rewritten.
    this.element.addEventListener("toggle", (e) => (this.open = e.target.open), true);
  }
  // Other runs are shown: forget the answers about running ones, which may be outdated.
  forget() {
    for (const key of this.asked) if (key.includes(RUNNING)) this.asked.delete(key);
  }
  async settle() {
    const { store, app } = this,
      { chosen } = store,
      names = chosen.map((i) => store.names[i]),
      key = JSON.stringify(names),
      state = JSON.stringify([names, chosen.map((i) => store.data.states[i])]),
      given = store.data.compared;
    let told = this.told.get(key) ?? (given && JSON.stringify(given.names) === key ? given : null);
    this.now = key;
    this.draw(names, told);
    if (!names.length || !app.host || this.asked.has(state)) return;
    this.asked.add(state);
    told = await app.host.ask({ compare: names });
    this.told.set(key, told);
    if (this.now === key) this.draw(names, told);
  }
  // Rewrite only sections that have changed: a live run changes its curves, but not the graph that the reader looks at.
  draw(names, told) {
    const part = (name, html) => setHtml(this.element.querySelector(`[data-part=${name}]`), html),
      files = told && !told.problem ? told : {};
    const at = this.element.querySelector(".scroll"),
      place = at && [at.scrollLeft, at.scrollTop];
    if (part("settings", names.length ? this.settings() : HINT) && place)
      this.element.querySelector(".scroll")?.scrollTo(...place);
    part("same", this.same());
    part("said", names.length ? this.said(told) : "");
    part("curves", files.curves ? this.curves(files) : "");
    part("code", files.code === null || files.code === undefined ? "" : `<h3>code</h3>${this.code(files.code)}`);
    part("graph", files.graph ? this.graphs(names, files.graph) : "");
  }
  differs(column) {
    return new Set(this.store.chosen.map((i) => column.text(i))).size > 1;
  }
  settings() {
    const { store, app } = this,
      { chosen, columns } = store,
      row = (c) =>
        `<tr><th scope="row" title="${escape(c.name)}"><bdi>${escape(c.name)}</bdi></th>${chosen
          .map((i) => `<td class="${c.kind}" title="${escape(c.text(i))}"><bdi>${escape(c.text(i) || "–")}</bdi></td>`)
          .join("")}</tr>`,
      part = (title, group, fits) => {
        const of = columns.filter((c) => c.group === group && fits(c));
        return of.length
          ? `<tr class="part"><th scope="rowgroup" colspan="${chosen.length + 1}">${title}</th></tr>` +
              of.map(row).join("")
          : "";
      },
      other = chosen.length > 1 ? (c) => this.differs(c) : () => true,
      head = chosen.map(
        (i, rank) =>
          `<th scope="col" title="${escape(store.names[i])}">` +
          `<i class="dot" style="background:${app.colourOf(rank)}"></i> <bdi>${escape(store.names[i])}</bdi></th>`,
      );
    return (
      `<div class="scroll" tabindex="0" role="region" aria-label="the ticked runs"><table><thead><tr><th scope="col">` +
      `<span class="unseen">what</span></th>${head.join("")}</tr></thead><tbody>${part("settings", "setting", other)}` +
      `${part("data", "data", other)}${part("metrics", "metric", (c) => chosen.some((i) => c.text(i)))}` +
      `</tbody></table></div>`
    );
  }
  same() {
    const { chosen, columns } = this.store,
      same = columns.filter((c) => ["setting", "data"].includes(c.group) && !this.differs(c));
    if (chosen.length < 2 || !same.length) return "";
    const all = same.map((c) => `<bdi>${escape(c.name)}</bdi> <b><bdi>${escape(c.text(chosen[0]) || "–")}</bdi></b>`);
    return (
      `<details${this.open ? " open" : ""}><summary>${same.length} the same in all</summary>` +
      `<p class="same">${all.join(" · ")}</p></details>`
    );
  }
  said(told) {
    if (told) return told.problem ? `<p class="warn">${escape(told.problem)}</p>` : "";
    return this.app.host
      ? `<p class="soft">The kernel reads the curves …</p>`
      : `<p class="soft">Curves, code and graphs stand in the runs' files: run this cell again to see them.</p>`;
  }
  curves({ curves, more }) {
    const drawn = curves.map((one) => this.curve(one)).join("");
    if (!drawn) return "";
    return (
      `<h3>curves</h3><div class="curves">${drawn}</div>` +
      (more ? `<p class="soft">and ${more} more curves: msnb.dashboard shows all.</p>` : "")
    );
  }
  graphs(names, { said }) {
    const button = this.app.host ? ` <button data-do="graph">show the two graphs</button>` : "";
    return (
      `<h3>graph</h3><p data-of="${escape(names.join(" and "))}">${escape(said)}${button}</p>` +
      `<div class="graph"></div>`
    );
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
      x = (s) => LEFT + ((W - LEFT - 6) * (s - a)) / (b - a || 1),
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
      `<line x1="${LEFT}" x2="${W - 6}" y1="${H - 18}" y2="${H - 18}"/>` +
      `<text x="${LEFT - 4}" y="${H - 15}" text-anchor="end">${number(low)}</text>` +
      `<text x="${LEFT - 4}" y="16" text-anchor="end">${number(high)}</text>` +
      `<text x="${LEFT}" y="${H - 5}">${number(a)}</text>` +
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
