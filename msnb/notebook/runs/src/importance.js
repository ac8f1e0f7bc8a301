// The importance tab: the distribution of the target, and the importance of each setting from the kernel's forest. A
// click on a setting plots it against the target.
import { escape } from "../../src/escape.js";
import { setHtml } from "../../src/set_html.js";
import { roving } from "../../src/roving.js";
import { Axis } from "./axes.js";
import { number, percent, runs } from "./format.js";

const BINS = 24;

// The standard error is a line over the end of a bar.
function unsure({ share, error }, most) {
  const from = (100 * Math.max(0, share - error)) / most;
  return `<b style="left:${from}%;width:${Math.min((200 * error) / most, 100 - from)}%"></b>`;
}

export class Importance {
  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.element = document.createElement("div");
    this.element.className = "importance";
    this.element.innerHTML = "<div></div><div></div>";
    [this.figure, this.list] = this.element.children; // how the target is spread; what the settings are worth
    this.known = new Map(); // what was asked -> answer of the kernel
    this.element.addEventListener("click", (e) => {
      const row = e.target.closest("[data-key]");
      if (row) this.app.show("scatter", { x: row.dataset.key, y: this.app.target?.key });
      else if (e.target.closest("[data-do=picked]")) this.ask(true);
    });
  }
  // The runs or the target have changed.
  forget() {
    this.known.clear();
  }
  question(picked) {
    const target = this.app.target;
    return target && { target: target.name, among: picked ? this.store.picked.map((i) => this.store.names[i]) : null };
  }
  async ask(picked) {
    const question = this.question(picked);
    if (!question || !this.app.host) return;
    const key = JSON.stringify(question);
    this.asked = key;
    if (!this.known.has(key)) {
      this.waiting = true;
      this.settle();
      this.known.set(key, await this.app.host.ask({ importance: question }));
      this.waiting = false;
    }
    if (this.asked === key) {
      this.answer = this.known.get(key);
      this.of = picked ? "picked" : "all";
      this.settle();
    }
  }
  settle() {
    const { app, store } = this,
      target = app.target;
    if (!target) {
      setHtml(this.figure, "");
      setHtml(this.list, `<p class="soft">No run has a metric that is a number.</p>`);
      return;
    }
    const given = store.data.importance;
    let answer = this.answer;
    if (answer?.target !== target.name) {
      answer = given?.target === target.name ? given : null;
      this.of = "all";
      if (!answer && !this.waiting && app.host) return void this.ask(false);
    }
    const words = this.waiting
      ? `<p class="soft">The kernel grows a forest over ${runs(store.count)} …</p>`
      : answer
        ? this.rows(answer)
        : `<p class="soft">What matters for ${escape(target.name)} is told by the kernel: run this cell again.</p>`;
    setHtml(this.figure, this.spread(target));
    if (setHtml(this.list, words) && this.list.querySelector("ul")) roving(this.list.querySelector("ul"), "button");
  }
  rows(answer) {
    if (answer.problem) return `<p class="warn">${escape(answer.problem)}</p>`;
    const most = Math.max(...answer.rows.map((row) => row.share), 1e-9),
      way = (row) =>
        row.trend === null || Math.abs(row.trend) < 0.1
          ? ""
          : `<span title="rank correlation ${row.trend.toFixed(2)}: more of it goes with ${
              row.trend > 0 ? "more" : "less"
            } ${escape(answer.target)}">${row.trend > 0 ? "↗" : "↘"}</span>`;
    return (
      `<p class="soft">Of ${this.of === "picked" ? "the picked" : "all"} ${runs(answer.runs)} with a number` +
      (answer.explained === null
        ? "."
        : `; the settings explain ${percent(Math.max(0, answer.explained))} of its spread.`) +
      `${
        this.app.host && this.store.picked.length < this.store.count
          ? ` <button data-do="picked">only the ${this.store.picked.length} picked</button>`
          : ""
      }</p>${answer.note ? `<p class="warn">${escape(answer.note)}</p>` : ""}<ul>${answer.rows
        .map(
          (row) =>
            `<li><button data-key="${escape(row.key)}" ` +
            `title="show ${escape(row.name)} against ${escape(answer.target)}">` +
            `<span class="name"><bdi>${escape(row.name)}</bdi></span>` +
            `<span class="bar"><i style="width:${(100 * row.share) / most}%"></i>` +
            `${unsure(row, most)}</span>` +
            `<span class="num">${percent(row.share)}</span><span class="way">${way(row)}</span></button></li>`,
        )
        .join("")}</ul>`
    );
  }
  // The distribution of the target: all runs in the background, the picked ones in front.
  spread(column) {
    const axis = new Axis(column, 5),
      all = new Float64Array(BINS),
      picked = new Float64Array(BINS);
    let lost = 0;
    for (let i = 0; i < this.store.count; i++) {
      if (!this.store.shown[i]) continue;
      const t = axis.to(column.values[i]);
      if (!Number.isFinite(t)) {
        lost += column.none[i] ? 0 : 1;
        continue;
      }
      const bin = Math.max(0, Math.min(BINS - 1, Math.floor(t * BINS)));
      all[bin]++;
      picked[bin] += this.store.isPicked[i];
    }
    const most = Math.max(...all, 1),
      bars = (counts, kind) =>
        [...counts]
          .map((n, k) => {
            const high = (70 * n) / most;
            return (
              `<rect class="${kind}" x="${(300 * k) / BINS + 0.5}" width="${300 / BINS - 1}" ` +
              `y="${72 - high}" height="${high}"/>`
            );
          })
          .join("");
    return (
      `<h3><bdi>${escape(column.name)}</bdi></h3><svg class="spread" viewBox="0 0 300 90" role="img" aria-label="` +
      `${escape(column.name)} between ${number(column.low)} and ${number(column.high)}">${bars(all, "all")}` +
      `${bars(picked, "some")}<line x1="0" x2="300" y1="72.5" y2="72.5"/>${axis.ticks
        .map(
          ([t, text]) =>
            `<text x="${300 * t}" y="86" text-anchor="${t < 0.06 ? "start" : t > 0.94 ? "end" : "middle"}">` +
            `${escape(text)}</text>`,
        )
        .join("")}</svg>${lost ? `<p class="warn">${lost} ended with no number there (NaN or ∞).</p>` : ""}`
    );
  }
}
