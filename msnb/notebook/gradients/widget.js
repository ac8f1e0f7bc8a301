// The ES module of the gradient view. In a live notebook anywidget calls `render`; in a page without a kernel `mount` draws
// the same thing from the bytes it is given. Plain JavaScript: there is no build.
const STATISTIC = {
  norm: "norm", rms: "RMS (norm per element)", mean: "mean", std: "standard deviation", min: "smallest", max: "largest", zeros: "zeros", nan: "NaN",
  inf: "Inf", update: "|Δw| / |w|", weight: "norm of the weight", saturated: "saturated", dead: "units at zero",
};
const KIND = { parameter: ["∂", "gradient of a Parameter"], output: ["→", "output of an operator"], gradient: ["←", "gradient of an operator's output"], weight: ["w", "values of a Parameter"] };
const SHARES = new Set(["zeros", "saturated", "dead"]), LOGARITHMIC = new Set(["norm", "rms", "std", "update", "weight"]);
const DARK = "[data-jp-theme-light='false'], .vscode-dark, .vscode-high-contrast, [data-theme='dark'], .theme-dark, [theme='dark']";
const HOSTS = "[data-jp-theme-light], .vscode-light, .vscode-dark, .vscode-high-contrast, [data-theme], [theme]";

// ---------------------------------------------------------------------- small things
const escape = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const bytesOf = view => view instanceof DataView ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : new Uint8Array(view);
const unzip = async bytes => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
const fromBase64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const number = v => v === null || v === undefined ? null : typeof v === "string" ? v === "inf" ? Infinity : v === "-inf" ? -Infinity : NaN : v;
const known = v => v !== null && Number.isFinite(v);
function show(v, name) {
  if (v === null) return "";
  if (!Number.isFinite(v)) return Number.isNaN(v) ? "NaN" : v > 0 ? "∞" : "−∞";
  if (SHARES.has(name)) return `${(100 * v).toFixed(v && v < .1 ? 1 : 0)} %`;
  if (v === 0) return "0";
  const text = Math.abs(v) >= 1e4 || Math.abs(v) < 1e-3 ? v.toExponential(1) : String(+v.toPrecision(3));
  return text.replace("e+", "e").replace(/-/g, "−");
}
const element = (tag, text = "", kind = "") => { const made = document.createElement(tag); made.innerHTML = text; if (kind) made.className = kind; return made; };

// Points of a curve with a logarithmic or linear axis: {place(v), low, high, ticks}
function axis(values, logarithmic, size) {
  const good = values.filter(v => known(v) && (!logarithmic || v > 0));
  if (!good.length) return null;
  const f = logarithmic ? Math.log10 : v => v;
  let low = Math.min(...good.map(f)), high = Math.max(...good.map(f));
  if (logarithmic) { if (high - low < .3) { low -= .15; high += .15; } } else if (high === low) { high += Math.abs(high) || 1; low -= Math.abs(low) || 1; }
  const pad = (high - low) * .06; low -= pad; high += pad;
  const ticks = [], step = logarithmic ? Math.max(1, Math.ceil((high - low) / 5)) : 10 ** Math.floor(Math.log10(high - low));
  if (logarithmic) {
    for (let t = Math.floor(low); t <= high; t += step)
      for (const m of high - low < 2 ? [1, 2, 5] : [1])
        if (t + f(m) >= low && t + f(m) <= high) ticks.push([m * 10 ** t, `${m}e${t}`.replace("-", "−")]);
  } else for (let t = Math.ceil(low / step) * step; t <= high && ticks.length < 9; t += (high - low) / step > 5 ? 2 * step : step) ticks.push([t, show(Math.abs(t) < 1e-12 ? 0 : t)]);
  if (ticks.length < 2) ticks.splice(0, 1, ...[0.1, 0.9].map(at => low + at * (high - low)).map(t => logarithmic ? 10 ** t : t).map(v => [v, show(v)]));
  const place = v => logarithmic && v <= 0 ? size : size * (1 - (f(v) - low) / (high - low));
  return { place, ticks };
}
// The path of a curve, with gaps where a value is unknown.
function path(values, x, y, skip = v => !known(v)) {
  let text = "", open = false;
  values.forEach((v, i) => { if (skip(v)) { open = false; return; } text += `${open ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`; open = true; });
  return text;
}
const RAMP = { light: [[247, 248, 250], [168, 205, 233], [86, 152, 205], [23, 92, 158], [8, 40, 82]], dark: [[28, 32, 37], [27, 66, 102], [48, 112, 168], [116, 178, 228], [222, 240, 255]] };
const DIVERGING = { light: [[178, 82, 14], [240, 178, 124], [246, 246, 246], [134, 186, 226], [20, 92, 156]], dark: [[255, 178, 104], [150, 84, 30], [34, 38, 43], [40, 96, 146], [130, 196, 250]] };
function colour(stops, t) {
  const at = Math.max(0, Math.min(1, t)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
  return stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i)));
}

// ---------------------------------------------------------------------- the data
class Data {
  constructor(json) {
    Object.assign(this, json);
    for (const row of this.rows) {
      for (const name of Object.keys(row.values)) row.values[name] = row.values[name].map(number);
      if (row.values.norm) row.values.rms = row.values.norm.map(v => v === null ? null : v / Math.sqrt(row.size));
      row.bars = row.bars ? fromBase64(row.bars) : null;
    }
    this.loss = this.loss.map(number);
    for (const tensor of this.tensors) { tensor.size = tensor.shape.reduce((a, b) => a * b, 1); tensor.values = new Float32Array(fromBase64(tensor.data).buffer); delete tensor.data; }
  }
  at(row, name, step) { const column = row.values[name]; return column ? column[step] : null; }
  barsOf(row, step) { if (!row.bars) return null; const n = this.bins, found = row.bars.subarray(step * n, (step + 1) * n); return found.some(v => v) ? found : null; }
}

// ---------------------------------------------------------------------- the view
class App {
  constructor(el, host) {
    this.el = el; this.host = host; this.cleanup = new AbortController();
    this.root = element("div", "", "msnb-grad"); this.root.setAttribute("role", "group"); this.root.setAttribute("aria-label", "gradients of a training");
    el.append(this.root);
    this.tab = "layers"; this.kind = null; this.statistic = "rms"; this.sort = null; this.filter = ""; this.row = -1;
    this.theme();
    const watch = new MutationObserver(() => this.theme(true)); watch.observe(document.body, { attributes: true }); watch.observe(document.documentElement, { attributes: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme(true), { signal: this.cleanup.signal });
    const size = new ResizeObserver(() => { const width = this.root.clientWidth; this.root.classList.toggle("narrow", width < 720); if (width !== this.width && this.data) { this.width = width; this.draw(); this.drawLoss(); } });
    size.observe(this.root);
    this.cleanup.signal.addEventListener("abort", () => { watch.disconnect(); size.disconnect(); clearInterval(this.playing); this.graph?.destroy(); });
    this.ready = this.load(host.payload());
  }
  destroy() { this.cleanup.abort(); this.root.remove(); this.data = null; }

  theme(again = false) {
    const host = this.root.parentElement?.closest(HOSTS) || document.body.closest(HOSTS);
    const told = host && (host.matches(DARK) || host.matches("[data-jp-theme-light='true'], .vscode-light, [data-theme='light'], [theme='light']"));
    const dark = told ? host.matches(DARK) : matchMedia("(prefers-color-scheme: dark)").matches;
    if (again && dark === this.dark) return;
    this.dark = dark; this.root.dataset.theme = dark ? "dark" : "light";
    if (again && this.data) this.draw();
  }

  async load(bytes) {
    try { this.data = new Data(await (await unzip(bytes)).json()); } catch (problem) { this.root.innerHTML = `<div class="note">These gradients cannot be shown: ${escape(problem.message)}</div>`; return; }
    const { data } = this;
    this.step = data.steps.length - 1; this.kinds = [...new Set(data.rows.map(r => r.kind))]; this.kind = this.kinds.includes("parameter") ? "parameter" : this.kinds[0];
    this.row = -1; this.skeleton(); this.width = this.root.clientWidth; this.go(this.step); this.root.dataset.ready = "1";
  }

  skeleton() {
    const { data } = this, tabs = [["layers", "Layers"], ["table", "Table"], ["graph", "Graph"], ["tensors", "Tensors"]];
    this.root.innerHTML = `
      <div class="bar"><div class="tabs" role="tablist">${tabs.map(([key, label]) => `<button role="tab" data-tab="${key}" aria-selected="${key === this.tab}">${label}</button>`).join("")}</div>
        <span class="gap"></span><span class="soft">${escape(data.mode)} mode · ${data.rows.length} rows · ${data.steps.length} step${data.steps.length === 1 ? "" : "s"}</span></div>
      <div class="findings" tabindex="0" role="list" aria-label="findings">${this.findings()}</div>
      <div class="time"><button data-do="play" aria-label="play the steps" title="play the steps">▶</button>
        <div class="where" aria-live="polite"></div><div class="track"><svg aria-hidden="true"></svg>
        <input type="range" min="0" max="${Math.max(0, data.steps.length - 1)}" step="1" value="${this.step}" aria-label="step"></div></div>
      <div class="body"><div class="main"></div><div class="side" hidden></div></div>`;
    const find = selector => this.root.querySelector(selector), signal = { signal: this.cleanup.signal };
    this.main = find(".main"); this.side = find(".side"); this.slider = find(".time input"); this.where = find(".where");
    this.slider.addEventListener("input", () => this.go(+this.slider.value), signal);
    find("[data-do=play]").addEventListener("click", () => this.play(), signal);
    for (const button of this.root.querySelectorAll("[data-tab]")) button.addEventListener("click", () => this.open(button.dataset.tab), signal);
    find(".tabs").addEventListener("keydown", event => {
      const all = [...this.root.querySelectorAll("[data-tab]")], at = all.indexOf(document.activeElement), to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
      if (to !== undefined && all[to]) { event.preventDefault(); all[to].focus(); this.open(all[to].dataset.tab); }
    }, signal);
    find(".findings").addEventListener("click", event => {
      const link = event.target.closest("[data-finding]"); if (!link) return;
      const finding = data.findings[+link.dataset.finding];
      if (link.dataset.what === "line") this.reveal(finding.line);
      else { if (finding.step !== null) { const at = data.steps.indexOf(finding.step); if (at >= 0) this.go(at); } if (finding.rows.length) this.select(finding.rows[0]); }
    }, signal);
  }
  findings() {
    const { data } = this;
    if (!data.findings.length) return `<div class="finding fine" role="listitem"><span class="mark">✔</span><span>${data.steps.length ? "Nothing wrong was found." : "No gradients recorded yet."}</span></div>`;
    return data.findings.map((f, i) => `<div class="finding ${f.severity}" role="listitem"><span class="mark" aria-label="${f.severity}">${f.severity === "error" ? "✖" : "▲"}</span>
      <span>${escape(f.text)} ${f.rows.length || f.step !== null ? `<button class="link" data-finding="${i}" data-what="show">show</button>` : ""}${f.line ? " · " : ""}${f.line ? `<button class="link" data-finding="${i}" data-what="line">${escape(f.line)}</button>` : ""}</span></div>`).join("");
  }

  // ---- steps
  go(step) {
    const { data } = this; if (!data.steps.length) { this.draw(); return; }
    this.step = Math.max(0, Math.min(data.steps.length - 1, step)); this.slider.value = this.step;
    const loss = data.loss[this.step];
    this.where.innerHTML = `step <b>${data.steps[this.step]}</b><br><span class="soft">${loss === null ? "" : `loss ${escape(show(loss))}`}</span>`;
    this.slider.setAttribute("aria-valuetext", `step ${data.steps[this.step]}${loss === null ? "" : `, loss ${show(loss)}`}`);
    this.root.dataset.step = data.steps[this.step];
    this.host.set?.("step", data.steps[this.step]);
    this.drawLoss(); this.draw();
  }
  play() {
    const button = this.root.querySelector("[data-do=play]");
    if (this.playing) { clearInterval(this.playing); this.playing = null; button.textContent = "▶"; return; }
    button.textContent = "❚❚"; if (this.step === this.data.steps.length - 1) this.go(0);
    this.playing = setInterval(() => { if (!this.data || this.step >= this.data.steps.length - 1) this.play(); else this.go(this.step + 1); }, Math.max(40, Math.min(400, 6000 / this.data.steps.length)));
  }
  drawLoss() {
    const { data } = this, svg = this.root.querySelector(".time svg"), width = Math.max(20, svg.clientWidth), n = Math.max(1, data.steps.length - 1);
    const scale = axis(data.loss, data.loss.every(v => !known(v) || v > 0) && data.loss.some(known) && Math.max(...data.loss.filter(known)) > 20 * Math.min(...data.loss.filter(known)), 26);
    const x = i => data.steps.length > 1 ? width * i / n : width / 2; let parts = "";
    if (scale) parts += `<path class="curve" d="${path(data.loss, x, v => scale.place(v))}"/>`;
    data.loss.forEach((v, i) => { if (v !== null && !Number.isFinite(v) && (i === 0 || Number.isFinite(data.loss[i - 1]))) parts += `<text class="nan" x="${Math.min(x(i), width - 24)}" y="10">NaN</text>`; });
    svg.innerHTML = `${parts}<line class="at" x1="${x(this.step)}" x2="${x(this.step)}" y1="-2" y2="28"/>`;
  }

  // ---- tabs
  open(tab) {
    this.tab = tab; for (const button of this.root.querySelectorAll("[data-tab]")) button.setAttribute("aria-selected", String(button.dataset.tab === tab));
    this.main.innerHTML = ""; this.graph?.destroy(); this.graph = null; this.draw();
  }
  draw() {
    if (!this.data) return;
    const main = this.main, draw = { layers: this.layers, table: this.table, graph: this.onGraph, tensors: this.tensors }[this.tab];
    const top = main.scrollTop; draw.call(this); main.scrollTop = top; this.details();
  }
  select(row) {
    this.row = row; const kind = this.data.rows[row]?.kind;
    if (kind && this.kind !== kind && this.tab !== "table") this.kind = kind;
    this.draw();
  }
  reveal(line) {
    const [file, at] = [line.slice(0, line.lastIndexOf(":")), +line.slice(line.lastIndexOf(":") + 1)];
    window.dispatchEvent(new CustomEvent("msnb:reveal", { detail: { file, line: at, cell: this.host.get?.("cells")?.[file] ?? null, asked: true } }));
  }
  shown() { return this.data.rows.map((row, i) => [row, i]).filter(([row]) => row.kind === this.kind); }
  picker(names) {
    return `<label class="soft">of <select data-pick="kind">${this.kinds.map(k => `<option value="${k}"${k === this.kind ? " selected" : ""}>${KIND[k][1]}</option>`).join("")}</select></label>` +
      (names ? `<label class="soft">show <select data-pick="statistic">${names.map(k => `<option value="${k}"${k === this.statistic ? " selected" : ""}>${STATISTIC[k]}</option>`).join("")}</select></label>` : "");
  }
  picked(where) {
    for (const box of where.querySelectorAll("[data-pick]")) box.addEventListener("change", () => { this[box.dataset.pick] = box.value; this.row = -1; this.draw(); });
  }
  names() {
    const found = new Set(this.shown().flatMap(([row]) => Object.keys(row.values)));
    return Object.keys(STATISTIC).filter(k => found.has(k));
  }

  layers() {
    const { data } = this, names = this.names();
    if (!data.rows.length) { this.main.innerHTML = `<div class="note">No gradients recorded yet.</div>`; return; }
    if (!names.includes(this.statistic)) this.statistic = names[0];
    const focus = document.activeElement?.dataset?.pick, statistic = this.statistic, logarithmic = LOGARITHMIC.has(statistic);
    let rows = this.shown(); if (this.kind === "parameter") { const weights = rows.filter(([row]) => row.shape.length > 1); if (weights.length > 1) rows = weights; }
    const width = Math.max(260, this.main.clientWidth - 4), height = Math.max(220, this.main.clientHeight - 56), left = 64, right = 18, top = 10, bottom = 92, letters = width < 600 ? 11 : 17;
    const w = width - left - right, h = height - top - bottom, x = i => left + (rows.length > 1 ? w * i / (rows.length - 1) : w / 2);
    const scale = axis(rows.flatMap(([row]) => row.values[statistic] || []), logarithmic, h);
    let parts = "";
    if (scale) {
      for (const [v, label] of scale.ticks) parts += `<line class="grid" x1="${left}" x2="${left + w}" y1="${top + scale.place(v)}" y2="${top + scale.place(v)}"/><text x="${left - 7}" y="${top + scale.place(v) + 3.5}" text-anchor="end">${label}</text>`;
      const y = v => top + scale.place(v), every = Math.max(1, Math.ceil(data.steps.length / 24));
      for (let s = 0; s < data.steps.length; s += every) if (s !== this.step) parts += `<path class="past" d="${path(rows.map(([row]) => data.at(row, statistic, s)), x, y)}"/>`;
      parts += `<path class="curve" d="${path(rows.map(([row]) => data.at(row, statistic, this.step)), x, y)}"/>`;
      rows.forEach(([row, i], k) => {
        const v = data.at(row, statistic, this.step); if (v === null) return;
        const label = `${row.name}: ${STATISTIC[statistic]} ${show(v, statistic)}`, zero = logarithmic && v === 0;
        if (!Number.isFinite(v)) parts += `<text class="nan" x="${x(k)}" y="${top + 12}" text-anchor="middle">${show(v)}</text>`;
        else parts += `<circle class="dot${i === this.row ? " sel" : ""}${zero ? " zero" : ""}" data-row="${i}" cx="${x(k)}" cy="${y(v)}" r="${rows.length > 60 ? 3 : 4.5}" tabindex="0" role="button" aria-label="${escape(label)}"><title>${escape(label)}${row.line ? `\n${escape(row.line)}` : ""}</title></circle>`;
      });
    }
    const each = Math.max(1, Math.ceil(rows.length / (w / 15)));
    rows.forEach(([row], k) => { if (k % each === 0 || k === rows.length - 1) { const name = row.name.length > letters ? `…${row.name.slice(1 - letters)}` : row.name; parts += `<text transform="translate(${x(k) + 3} ${top + h + 12}) rotate(-48)" text-anchor="end">${escape(name)}</text>`; } });
    this.main.innerHTML = `<div class="controls">${this.picker(names)}<span class="soft">layer by layer, input to output; pale: other steps</span></div>
      <svg width="${width}" height="${height}" role="group" aria-label="${escape(STATISTIC[statistic])} layer by layer">${parts}</svg>${this.notes()}`;
    this.picked(this.main); if (focus) this.main.querySelector(`[data-pick=${focus}]`)?.focus();
    for (const dot of this.main.querySelectorAll(".dot")) {
      const pick = () => this.select(+dot.dataset.row); dot.addEventListener("click", pick);
      dot.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); this.main.querySelector(`.dot[data-row="${dot.dataset.row}"]`)?.focus(); } });
    }
  }
  notes() { return this.data.notes.length ? `<div class="notes">${this.data.notes.map(escape).join("<br>")}</div>` : ""; }

  table() {
    const { data } = this, names = this.names().filter(k => k !== "rms" && k !== "weight"), focused = document.activeElement, typed = focused?.dataset?.find !== undefined && this.main.contains(focused) ? focused.selectionStart : null;
    const kept = document.activeElement?.dataset?.pick;
    let rows = this.shown().filter(([row]) => !this.filter || row.name.toLowerCase().includes(this.filter.toLowerCase()) || row.op.toLowerCase().includes(this.filter.toLowerCase()));
    if (this.sort) { const [key, sign] = this.sort, of = ([row]) => key === "name" ? row.name : data.at(row, key, this.step) ?? -Infinity; rows = [...rows].sort((a, b) => sign * (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0)); }
    const arrow = key => this.sort?.[0] === key ? this.sort[1] > 0 ? " ↑" : " ↓" : "", direction = key => this.sort?.[0] === key ? this.sort[1] > 0 ? "ascending" : "descending" : "none";
    const head = [["name", KIND[this.kind][1]], [null, "norm over the steps"], ...names.map(k => [k, STATISTIC[k].replace("standard deviation", "std").replace("smallest", "min").replace("largest", "max")]), [null, "line"]];
    this.main.innerHTML = `<div class="controls">${this.picker()}<input type="search" data-find placeholder="filter by name or operator" aria-label="filter" value="${escape(this.filter)}"></div>
      <table class="rows"><thead><tr>${head.map(([key, label]) => `<th scope="col"${key ? ` data-sort="${key}" tabindex="0" aria-sort="${direction(key)}"` : ""}>${escape(label)}${key ? arrow(key) : ""}</th>`).join("")}</tr></thead>
      <tbody>${rows.slice(0, 400).map(([row, i]) => `<tr data-row="${i}" tabindex="0" class="${i === this.row ? "sel" : ""}"><td title="${escape(`${row.name} ${JSON.stringify(row.shape)}`)}"><span class="kind" aria-hidden="true">${KIND[row.kind][0]}</span>${escape(row.name)}</td>
        <td>${this.spark(row)}</td>${names.map(k => { const v = data.at(row, k, this.step); return `<td class="${(k === "nan" || k === "inf") && v > 0 || v !== null && !Number.isFinite(v) ? "bad" : ""}">${show(v, k)}</td>`; }).join("")}
        <td>${row.line ? `<button class="link" data-line="${escape(row.line)}">${escape(row.line)}</button>` : ""}</td></tr>`).join("")}</tbody></table>
      ${rows.length > 400 ? `<div class="notes">${rows.length - 400} more rows: filter to see them.</div>` : ""}${this.notes()}`;
    this.picked(this.main); if (kept) this.main.querySelector(`[data-pick=${kept}]`)?.focus();
    const find = this.main.querySelector("[data-find]");
    find.addEventListener("input", () => { this.filter = find.value; this.table(); });
    if (typed !== null) { find.focus(); find.setSelectionRange(typed, typed); }
    for (const th of this.main.querySelectorAll("[data-sort]")) {
      const turn = () => { const key = th.dataset.sort; this.sort = this.sort?.[0] !== key ? [key, key === "name" ? 1 : -1] : this.sort[1] === (key === "name" ? 1 : -1) ? [key, -this.sort[1]] : null; this.table(); this.main.querySelector(`[data-sort=${key}]`)?.focus(); };
      th.addEventListener("click", turn); th.addEventListener("keydown", event => { if (event.key === "Enter") turn(); });
    }
    for (const tr of this.main.querySelectorAll("tr[data-row]")) {
      tr.addEventListener("click", event => { const link = event.target.closest("[data-line]"); if (link) this.reveal(link.dataset.line); else this.select(+tr.dataset.row); });
      tr.addEventListener("keydown", event => {
        const to = { ArrowDown: tr.nextElementSibling, ArrowUp: tr.previousElementSibling }[event.key];
        if (event.key === "Enter") { this.select(+tr.dataset.row); this.main.querySelector(`tr[data-row="${tr.dataset.row}"]`)?.focus(); } else if (to) { event.preventDefault(); to.focus(); }
      });
    }
  }
  spark(row, width = 110, height = 18) {
    const values = row.values.norm || [], scale = axis(values, true, height - 4), n = Math.max(1, values.length - 1), x = i => values.length > 1 ? 2 + (width - 4) * i / n : width / 2;
    if (!scale) return `<svg width="${width}" height="${height}" role="img" aria-label="no gradient"><text x="2" y="13">${values.some(v => v === 0) ? "zero" : "–"}</text></svg>`;
    const now = values[this.step], y = v => 2 + scale.place(v);
    return `<svg width="${width}" height="${height}" role="img" aria-label="norm over the steps, now ${escape(show(now))}"><path class="curve" style="stroke-width:1.3" d="${path(values, x, y, v => !known(v) || v <= 0)}"/>${known(now) ? `<circle cx="${x(this.step)}" cy="${y(now)}" r="2.6" fill="var(--focus)"/>` : ""}</svg>`;
  }

  // ---- on the graph
  async onGraph() {
    const { data } = this;
    if (this.graph) { this.graph.setColumn("gradient", this.column(), { colour: false }); return; }
    if (!data.nodes || !this.host.graph().length) {
      this.main.innerHTML = `<div class="note">${data.mode === "PYNATIVE" ? "In PYNATIVE mode operators run one by one and there is no graph to colour; the table has them in the order in which they ran. In GRAPH mode (<code>set_context(mode=GRAPH_MODE)</code>) the graph is here." : "The graph is too large to be carried along; <code>msnb.view</code> shows it."}</div>`; return;
    }
    if (this.opening) return;
    this.opening = true; this.main.innerHTML = `<div class="graph"></div>`;
    try {
      this.module ??= await import(URL.createObjectURL(new Blob([await (await unzip(this.host.module())).text()], { type: "text/javascript" })));
      if (this.tab !== "graph") return;
      this.graph = this.module.mount(this.main.querySelector(".graph"), this.host.graph(), {
        colour: "kind", panel: false, onSelect: id => { const at = data.rows.findIndex(r => r.kind === (data.rows.some(o => o.kind === "gradient") ? "gradient" : "parameter") && (r.node === id || r.maker === id)); if (at >= 0) { this.row = at; this.details(); } },
      });
      this.graph.setColumn("gradient", this.column(), { colour: true }); this.graph.colourBy?.("gradient"); this.root.dataset.graph = "1";
    } catch (problem) { this.main.innerHTML = `<div class="note">The graph cannot be shown: ${escape(problem.message)}</div>`; }
    finally { this.opening = false; }
  }
  column() {
    const { data } = this, values = new Array(data.nodes).fill(null), note = new Array(data.nodes).fill(null), whole = data.rows.some(r => r.kind === "gradient");
    for (const row of data.rows) {
      if (row.kind !== (whole ? "gradient" : "parameter")) continue;
      const v = data.at(row, "norm", this.step); if (v === null) continue;
      for (const id of [row.node, row.maker]) if (id >= 0 && id < data.nodes && Number.isFinite(v)) { values[id] = v; note[id] = `gradient of ${row.name}, step ${data.steps[this.step]}`; }
    }
    return { label: "gradient norm", unit: "", fold: "max", scale: "log", values, note };
  }

  // ---- whole tensors
  tensors() {
    const { data } = this;
    if (!data.tensors.length) { this.main.innerHTML = `<div class="note">No tensor was recorded whole. Name some: <code>GradientMonitor(tensors=["conv1.weight", "weight:conv1.weight"])</code> or <code>inspect_gradients(..., tensors="conv*")</code>.</div>`; return; }
    this.tensor = Math.min(this.tensor ?? 0, data.tensors.length - 1);
    const tensor = data.tensors[this.tensor], numbers = tensor.steps, now = data.steps[this.step], kept = document.activeElement?.dataset?.t, place = document.activeElement?.selectionStart;
    const used = numbers.filter(n => n <= now).pop() ?? numbers[0], at = numbers.indexOf(used), before = at > 0 ? numbers[at - 1] : null;
    const value = k => tensor.values.subarray(k * tensor.size, (k + 1) * tensor.size);
    let values = value(at); const difference = this.difference && before !== null;
    if (difference) { const old = value(at - 1); values = values.map((v, i) => v - old[i]); }
    this.slices ??= {}; const key = `${tensor.kind}:${tensor.name}`, text = this.slices[key] ?? tensor.shape.map((n, i) => i < tensor.shape.length - 2 ? "0" : ":").join(", ");
    const cut = slice(values, tensor.shape, text);
    this.main.innerHTML = `<div class="controls"><select data-t="tensor" aria-label="tensor">${data.tensors.map((t, i) => `<option value="${i}"${i === this.tensor ? " selected" : ""}>${escape(`${KIND[t.kind][0]} ${t.name} [${t.shape.join(", ")}]`)}</option>`).join("")}</select>
      <label class="soft">slice <input data-t="slice" size="12" aria-label="slice, as in numpy" value="${escape(text)}"></label>
      <label><input type="checkbox" style="height:auto" data-t="difference"${this.difference ? " checked" : ""}> difference to step ${before ?? "before"}</label>
      <span class="soft">${KIND[tensor.kind][1]}, step ${used}${used !== now ? ` (step ${now} has none)` : ""}${this.difference && before === null ? "; there is no step before it" : ""}</span></div>
      ${cut.problem ? `<div class="note">${escape(cut.problem)}</div>` : `<div class="tensors"><div><h4>image</h4><canvas role="img" aria-label="values as an image"></canvas><div class="soft scale"></div></div>
      <div><h4>histogram</h4>${this.histogramOf(cut.values)}</div><div style="flex:1 1 260px"><h4>values</h4><div class="grid">${grid(cut)}</div></div></div>`}${this.notes()}`;
    const box = name => this.main.querySelector(`[data-t=${name}]`);
    box("tensor").addEventListener("change", () => { this.tensor = +box("tensor").value; this.tensors(); });
    box("slice").addEventListener("change", () => { this.slices[key] = box("slice").value; this.tensors(); });
    box("difference").addEventListener("change", () => { this.difference = box("difference").checked; this.tensors(); });
    if (kept) { const again = box(kept); again?.focus(); if (kept === "slice") again.setSelectionRange(place, place); }
    if (!cut.problem) this.image(cut);
  }
  image(cut) {
    const canvas = this.main.querySelector("canvas"), [rows, columns] = cut.shape.length === 0 ? [1, 1] : cut.shape.length === 1 ? [1, cut.shape[0]] : cut.shape.slice(-2);
    const many = cut.values.length / (rows * columns), across = Math.ceil(Math.sqrt(many)), down = Math.ceil(many / across), gap = many > 1 ? 1 : 0;
    const width = across * (columns + gap) - gap, height = down * (rows + gap) - gap, good = [...cut.values].filter(Number.isFinite), most = Math.max(1e-30, ...good.map(Math.abs)), signed = good.some(v => v < 0);
    canvas.width = width; canvas.height = height;
    const zoom = Math.max(1, Math.min(24, Math.floor(Math.min((this.root.classList.contains("narrow") ? 300 : 380) / width, 300 / height)))); canvas.style.width = `${width * zoom}px`; canvas.style.height = "auto";
    const context = canvas.getContext("2d"), picture = context.createImageData(width, height), stops = (signed ? DIVERGING : RAMP)[this.dark ? "dark" : "light"];
    for (let m = 0; m < many; m++) for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
      const v = cut.values[(m * rows + r) * columns + c], at = 4 * (((Math.floor(m / across) * (rows + gap)) + r) * width + (m % across) * (columns + gap) + c);
      picture.data.set([...(Number.isFinite(v) ? colour(stops, signed ? .5 + .5 * v / most : v / most) : [214, 40, 120]), 255], at);
    }
    context.putImageData(picture, 0, 0);
    this.main.querySelector(".scale").textContent = signed ? `${show(-most)} (orange) to ${show(most)} (blue)` : `0 to ${show(most)}`;
  }
  histogramOf(values) {
    const good = [...values].filter(Number.isFinite); if (!good.length) return `<span class="soft">no finite value</span>`;
    const low = Math.min(...good), high = Math.max(...good), n = 40, counts = new Array(n).fill(0);
    for (const v of good) counts[high > low ? Math.min(n - 1, Math.floor((v - low) / (high - low) * n)) : 0]++;
    return this.bars(counts, low, high, 300, 110);
  }
  bars(counts, low, high, width, height) {
    const top = Math.max(...counts), each = width / counts.length, zero = low < 0 && high > 0 ? width * -low / (high - low) : null;
    return `<svg width="${width}" height="${height + 16}" viewBox="0 0 ${width} ${height + 16}" style="max-width:100%" role="img" aria-label="histogram from ${show(low)} to ${show(high)}"><g class="bars">${[...counts].map((c, i) => c ? `<rect x="${(i * each).toFixed(1)}" width="${Math.max(1, each - 1).toFixed(1)}" y="${(height * (1 - c / top)).toFixed(1)}" height="${Math.max(1, height * c / top).toFixed(1)}"/>` : "").join("")}</g>
      <line class="grid" x1="0" x2="${width}" y1="${height + .5}" y2="${height + .5}"/>${zero !== null ? `<line x1="${zero}" x2="${zero}" y1="0" y2="${height}" stroke="var(--soft)" stroke-dasharray="2 3"/>` : ""}
      <text x="0" y="${height + 13}">${show(low)}</text><text x="${width}" y="${height + 13}" text-anchor="end">${show(high)}</text></svg>`;
  }

  // ---- one row in detail
  details() {
    const { data } = this, row = data.rows[this.row]; this.side.hidden = !row || this.tab === "tensors"; if (this.side.hidden) return;
    const facts = Object.keys(STATISTIC).filter(k => row.values[k]).map(k => `<tr><td>${STATISTIC[k]}</td><td>${show(data.at(row, k, this.step), k) || "–"}</td></tr>`).join("");
    const counts = data.barsOf(row, this.step), low = data.at(row, "min", this.step), high = data.at(row, "max", this.step), top = this.side.scrollTop;
    this.side.innerHTML = `<button style="float:right" data-do="close" aria-label="close">×</button><h3>${escape(row.name)}</h3>
      <div class="soft">${KIND[row.kind][1]}, ${escape(row.dtype)} [${row.shape.join(", ")}]<br>${escape([row.cell, row.op].filter(Boolean).join(" · "))} ${row.line ? `<button class="link" data-line="1">${escape(row.line)}</button>` : ""}</div>
      ${counts ? `<h4>values in step ${data.steps[this.step]}</h4>${this.bars(counts, low, high, 290, 84)}` : ""}
      ${data.steps.length > 1 ? `<h4>norm over the steps</h4>${this.curve(row)}` : ""}
      ${data.steps.length > 1 && row.bars ? `<h4>values over the steps</h4><canvas data-heat role="img" aria-label="histograms of all steps"></canvas><div class="soft" data-span></div>` : ""}
      <h4>step ${data.steps[this.step]}</h4><table class="facts"><tbody>${facts}</tbody></table>`;
    this.side.scrollTop = top;
    this.side.querySelector("[data-do=close]").addEventListener("click", () => { this.row = -1; this.draw(); });
    this.side.querySelector("[data-line]")?.addEventListener("click", () => this.reveal(row.line));
    const heat = this.side.querySelector("[data-heat]"); if (heat) this.heat(heat, row);
  }
  curve(row) {
    const { data } = this, width = 290, height = 80, left = 46, values = row.values.norm, scale = axis(values, true, height), n = data.steps.length - 1, x = i => left + (width - left - 4) * i / n;
    if (!scale) return `<span class="soft">zero in every step</span>`;
    return `<svg width="${width}" height="${height + 16}" role="img" aria-label="norm over the steps">${scale.ticks.map(([v, t]) => `<line class="grid" x1="${left}" x2="${width}" y1="${scale.place(v)}" y2="${scale.place(v)}"/><text x="${left - 5}" y="${scale.place(v) + 3.5}" text-anchor="end">${t}</text>`).join("")}
      <path class="curve" d="${path(values, x, scale.place, v => !known(v) || v <= 0)}"/><line class="at" x1="${x(this.step)}" x2="${x(this.step)}" y1="0" y2="${height}"/>
      <text x="${left}" y="${height + 13}">${data.steps[0]}</text><text x="${width}" y="${height + 13}" text-anchor="end">${data.steps[n]}</text></svg>`;
  }
  heat(canvas, row) {
    // all steps on one axis, from the 2nd to the 98th percentile of their ends, so that one wild step does not flatten the rest
    const { data } = this, n = data.steps.length, ends = [...row.values.min, ...row.values.max].filter(known).sort((a, b) => a - b); if (!ends.length) return;
    const low = ends[Math.floor(ends.length * .02)], high = ends[Math.min(ends.length - 1, Math.floor(ends.length * .98))], height = 64, stops = RAMP[this.dark ? "dark" : "light"];
    const width = 290, column = s => Math.round(s * width / n);
    canvas.width = width; canvas.height = height; canvas.style.width = `${width}px`; canvas.style.height = "96px";
    const context = canvas.getContext("2d"), picture = context.createImageData(width, height);
    for (let s = 0; s < n; s++) {
      const counts = data.barsOf(row, s), a = data.at(row, "min", s), b = data.at(row, "max", s);
      for (let r = 0; r < height; r++) {
        const v = high - (high - low) * (r + .5) / height, k = b > a ? Math.floor((v - a) / (b - a) * data.bins) : Math.abs(v - a) < (high - low) / height ? 0 : -1;
        const rgb = colour(stops, counts && k >= 0 && k < data.bins ? Math.sqrt(counts[k] / 255) : 0);
        for (let x = column(s); x < column(s + 1); x++) picture.data.set([...rgb, 255], 4 * (r * width + x));
      }
    }
    context.putImageData(picture, 0, 0);
    context.fillStyle = this.dark ? "#f5a742" : "#d97706"; context.fillRect(Math.min(width - 2, Math.round((column(this.step) + column(this.step + 1)) / 2) - 1), 0, 2, height);
    this.side.querySelector("[data-span]").textContent = `${show(low)} (bottom) to ${show(high)} (top)`;
  }
}

// ---------------------------------------------------------------------- slices, as numpy writes them
export function slice(values, shape, text) {
  const parts = text.trim() === "" ? [] : text.split(",").map(p => p.trim());
  if (parts.includes("...")) parts.splice(parts.indexOf("..."), 1, ...new Array(Math.max(0, shape.length - parts.length + 1)).fill(":"));
  if (parts.length > shape.length) return { problem: `The tensor has ${shape.length} axes, but the slice names ${parts.length}.` };
  const ranges = [], kept = [];
  for (let d = 0; d < shape.length; d++) {
    const part = parts[d] ?? ":", n = shape[d], bound = (t, other) => t === "" || t === undefined ? other : Math.max(0, Math.min(n, +t < 0 ? n + +t : +t));
    if (/^-?\d+$/.test(part)) { const i = +part < 0 ? n + +part : +part; if (i < 0 || i >= n) return { problem: `Index ${part} is out of range for axis ${d}, which has ${n}.` }; ranges.push([i]); }
    else if (/^-?\d*(:-?\d*){1,2}$/.test(part)) { const [a, b, c] = part.split(":"), step = c ? +c : 1; if (!(step > 0)) return { problem: `The step of '${part}' should be positive.` }; const found = []; for (let i = bound(a, 0); i < bound(b, n); i += step) found.push(i); ranges.push(found); kept.push(found.length); }
    else return { problem: `'${part}' is no index; write a number or start:stop:step, such as 0, :, 2:5.` };
  }
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((a, b) => a * b, 1)), out = [];
  const walk = (d, at) => { if (d === shape.length) { out.push(values[at]); return; } for (const i of ranges[d]) walk(d + 1, at + i * strides[d]); };
  walk(0, 0);
  return out.length ? { values: Float32Array.from(out), shape: kept, ranges } : { problem: "The slice is empty." };
}
function grid(cut) {
  const [rows, columns] = cut.shape.length === 0 ? [1, 1] : cut.shape.length === 1 ? [1, cut.shape[0]] : cut.shape.slice(-2), r = Math.min(rows, 30), c = Math.min(columns, 30);
  let text = ""; for (let i = 0; i < r; i++) { text += `<tr><th scope="row">${i}</th>`; for (let j = 0; j < c; j++) text += `<td>${show(cut.values[i * columns + j])}</td>`; text += `${columns > c ? "<td>…</td>" : ""}</tr>`; }
  return `<table><tbody>${text}${rows > r ? "<tr><th>…</th></tr>" : ""}</tbody></table>`;
}

// ---------------------------------------------------------------------- entry points
export function mount(el, { payload, graph = new Uint8Array(), module = new Uint8Array() }) {
  return new App(el, { payload: () => payload, graph: () => graph, module: () => module });
}

function render({ model, el }) {
  const bytes = name => bytesOf(model.get(name));
  const app = new App(el, {
    payload: () => bytes("payload"), graph: () => bytes("graph"), module: () => bytes("module"), get: name => model.get(name),
    set: (name, value) => { if (model.get(name) !== value) { model.set(name, value); model.save_changes(); } },
  });
  app.root.style.height = `${model.get("height") || 620}px`;
  const changed = () => app.load(bytes("payload")); model.on("change:payload", changed);
  return () => { model.off("change:payload", changed); app.destroy(); };
}

export default { render };
