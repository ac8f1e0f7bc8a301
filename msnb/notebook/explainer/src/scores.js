// The tab of scores: explainers by benchmarks with weights, a radar chart, and the scores of each class.
import { escape } from "../../src/escape.js";
import { ellipsize } from "../../src/ellipsize.js";
import { DARK, LIGHT } from "../../src/palette.js";

const SIZE = 300,
  RADIUS = 100;
const isMissing = (value) => value === null || value === undefined;
const number = (value) => (isMissing(value) ? "–" : value.toFixed(3));

export class Scores {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.weights = new Map(); // benchmark -> weight; they sum to 1
    this.hidden = new Set(); // methods that are not in the chart
    panel.addEventListener("change", ({ target }) => {
      if (target.dataset.weight) this.setWeight(target.dataset.weight, target.valueAsNumber);
      else if (target.dataset.set === "bench") {
        this.bench = target.value;
        this.draw();
      }
    });
    panel.addEventListener("click", ({ target }) => {
      const method = target.closest("[data-method]")?.dataset.method;
      if (target.closest("[data-do=equal]")) {
        this.weights.clear();
        this.draw();
      } else if (method !== undefined) {
        if (!this.hidden.delete(method)) this.hidden.add(method);
        this.draw();
        for (const one of panel.querySelectorAll("button[data-method]")) if (one.dataset.method === method) one.focus();
      }
    });
  }

  // The other weights share the rest in proportion.
  setWeight(bench, value) {
    const { benchmarks } = this.app.data,
      weight = Math.min(1, Math.max(0, Number.isFinite(value) ? value : 0)),
      others = benchmarks.filter((one) => one !== bench),
      sum = others.reduce((total, one) => total + this.weights.get(one), 0);
    if (!others.length) this.weights.set(bench, 1);
    else {
      this.weights.set(bench, weight);
      for (const one of others)
        this.weights.set(one, sum > 0 ? ((1 - weight) * this.weights.get(one)) / sum : (1 - weight) / others.length);
    }
    const at = document.activeElement?.dataset?.weight;
    this.draw();
    for (const field of this.panel.querySelectorAll("[data-weight]")) if (field.dataset.weight === at) field.focus();
    this.app.say(benchmarks.map((one) => `${one} ${this.weights.get(one).toFixed(2)}`).join(", "));
  }
  // A benchmark without weight does not count, even if it has no score.
  total(method) {
    let sum = 0;
    for (const bench of this.app.data.benchmarks) {
      const weight = this.weights.get(bench),
        value = this.of(method, bench)?.total;
      if (weight > 0 && isMissing(value)) return null;
      if (weight > 0) sum += weight * value;
    }
    return sum;
  }
  of(method, bench) {
    return this.app.data.scores.find((one) => one.method === method && one.benchmark === bench);
  }
  colour(method) {
    const colours = this.app.theme === "dark" ? DARK : LIGHT;
    return colours[this.app.data.methods.indexOf(method) % colours.length];
  }

  draw() {
    const { benchmarks, scores } = this.app.data;
    if (!scores.length) {
      this.panel.innerHTML =
        `<p class="soft">No scores yet: register_saliency(explainers, benchmarkers) of the runner takes benchmarks, ` +
        `such as Faithfulness.</p>`;
      return;
    }
    if (this.weights.size !== benchmarks.length || benchmarks.some((one) => !this.weights.has(one)))
      this.weights = new Map(benchmarks.map((one) => [one, 1 / benchmarks.length]));
    this.panel.innerHTML =
      `<div class="halves"><div class="wide totals">${this.table()}<div class="tools">` +
      `<span class="soft">The weights sum to 1, and a higher score is better.</span>` +
      `<button data-do="equal">equal weights</button></div></div><figure class="radar">${this.radar()}</figure></div>` +
      `${this.classes()}`;
  }
  table() {
    const { benchmarks, methods } = this.app.data,
      scored = methods.filter((method) => benchmarks.some((bench) => this.of(method, bench))),
      order = [...scored].sort((a, b) => (this.total(b) ?? -1) - (this.total(a) ?? -1));
    const rows = order.map(
      (method) =>
        `<tr><th scope="row"><button data-method="${escape(method)}" aria-pressed="${!this.hidden.has(method)}" ` +
        `title="in the chart"><i class="dot" style="background:${this.colour(method)}"></i> ${escape(method)}` +
        `</button></th><td class="number"><b>${number(this.total(method))}</b></td>${benchmarks
          .map((bench) => `<td class="number">${number(this.of(method, bench)?.total)}</td>`)
          .join("")}</tr>`,
    );
    return (
      `<table><thead><tr><th scope="col">explainer</th><th scope="col" class="number">total</th>${benchmarks
        .map((bench) => `<th scope="col" class="number">${escape(bench)}</th>`)
        .join("")}</tr><tr class="weights"><th scope="row">weight</th><td class="number soft">1.000</td>` +
      `${benchmarks
        .map(
          (bench) =>
            `<td class="number"><input type="number" min="0" max="1" step="0.05" data-weight="${escape(bench)}" ` +
            `value="${+this.weights.get(bench).toFixed(4)}" aria-label="weight of ${escape(bench)}"></td>`,
        )
        .join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`
    );
  }

  radar() {
    const { benchmarks, methods } = this.app.data,
      shown = methods.filter((one) => !this.hidden.has(one) && benchmarks.some((bench) => this.of(one, bench)));
    if (benchmarks.length < 3) return this.bars(shown);
    const at = (i, share) => {
      const angle = (2 * Math.PI * i) / benchmarks.length - Math.PI / 2;
      return [RADIUS * share * Math.cos(angle), RADIUS * share * Math.sin(angle)];
    };
    const ring = (share) =>
        benchmarks
          .map((_, i) =>
            at(i, share)
              .map((v) => v.toFixed(1))
              .join(),
          )
          .join(" "),
      valueOf = (method, bench) => Math.min(1, Math.max(0, this.of(method, bench)?.total ?? 0));
    const axes = benchmarks.map((bench, i) => {
      const [x, y] = at(i, 1),
        [lx, ly] = at(i, 1.14),
        anchor = Math.abs(lx) < 12 ? "middle" : lx > 0 ? "start" : "end";
      return (
        `<line class="axis" x2="${x.toFixed(1)}" y2="${y.toFixed(1)}"/>` +
        `<text x="${lx.toFixed(1)}" y="${(ly + 4).toFixed(1)}" text-anchor="${anchor}">${escape(
          ellipsize(bench, 18),
        )}</text>`
      );
    });
    const areas = shown.map((method) => {
      const points = benchmarks.map((bench, i) => at(i, valueOf(method, bench)));
      return (
        `<polygon points="${points.map((one) => one.map((v) => v.toFixed(1)).join()).join(" ")}" ` +
        `style="stroke:${this.colour(method)};fill:${this.colour(method)}"><title>${escape(method)}</title></polygon>` +
        points
          .map(
            ([x, y]) =>
              `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="2.5" style="fill:${this.colour(method)}"/>`,
          )
          .join("")
      );
    });
    const words = shown.map(
      (method) =>
        `${method}: ${benchmarks.map((bench) => `${bench} ${number(this.of(method, bench)?.total)}`).join(", ")}`,
    );
    return (
      `<svg viewBox="${-SIZE * 0.75} ${-SIZE / 2} ${SIZE * 1.5} ${SIZE}" role="img" aria-label="${escape(
        `radar chart. ${words.join("; ")}`,
      )}">${[0.25, 0.5, 0.75, 1].map((share) => `<polygon class="ring" points="${ring(share)}"/>`).join("")}` +
      `${axes.join("")}<text class="tick" x="3" y="${-RADIUS / 2 + 4}">0.5</text>` +
      `<text class="tick" x="3" y="${-RADIUS + 11}">1</text>${areas.join("")}</svg>`
    );
  }
  bar(method, value) {
    const share = Math.min(1, Math.max(0, value ?? 0));
    return isMissing(value) ? "" : `<i class="bar" style="--share:${share};background:${this.colour(method)}"></i>`;
  }
  // One or two benchmarks span no area.
  bars(shown) {
    const { benchmarks } = this.app.data;
    return benchmarks
      .map(
        (bench) =>
          `<div class="bars"><b>${escape(bench)}</b>${shown
            .map((method) => {
              const value = this.of(method, bench)?.total;
              return (
                `<span>${escape(method)}</span><span>${this.bar(method, value)}</span>` +
                `<span class="number">${number(value)}</span>`
              );
            })
            .join("")}</div>`,
      )
      .join("");
  }

  classes() {
    const { data } = this.app,
      benches = data.benchmarks.filter((bench) =>
        data.scores.some((one) => one.benchmark === bench && one.labels.length),
      );
    if (!benches.length) return `<p class="soft">These benchmarks have no scores per class.</p>`;
    if (!benches.includes(this.bench)) [this.bench] = benches;
    const methods = data.methods.filter((method) => this.of(method, this.bench)?.labels.length);
    const rows = data.labels.map(
      (label, i) =>
        `<tr><th scope="row">${escape(label)}</th>${methods
          .map((method) => {
            const value = this.of(method, this.bench).labels[i];
            return `<td class="number">${number(value)}${this.bar(method, value)}</td>`;
          })
          .join("")}</tr>`,
    );
    return `<h3>Scores per class</h3><div class="tools"><label>benchmark <select data-set="bench">${benches
      .map((bench) => `<option${bench === this.bench ? " selected" : ""}>${escape(bench)}</option>`)
      .join("")}</select></label></div><div class="wide classes"><table><thead><tr><th scope="col">class</th>${methods
      .map((method) => `<th scope="col" class="number">${escape(method)}</th>`)
      .join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
  }
}
