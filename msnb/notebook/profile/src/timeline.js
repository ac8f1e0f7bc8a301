// One step on its lanes, drawn on a canvas: wheel and drag, or + - and the arrows, zoom and move.
import { formatLocation } from "../../src/location.js";
import { time, cellOf, HOW } from "./format.js";

const ROW = 19,
  LEFT = 92;

export class Timeline {
  constructor(data, theme, onPick) {
    this.data = data;
    this.t = data.timeline;
    this.theme = theme;
    this.onPick = onPick;
    this.from = 0;
    this.to = this.t ? this.t.length : 1;
    this.element = document.createElement("div");
    if (!this.t) {
      this.element.innerHTML = '<p class="soft">No steady step was traced; run three steps or more.</p>';
      return;
    }
    this.element.innerHTML =
      `<div class="tools"><button data-do="in" aria-label="Zoom in">+</button>` +
      `<button data-do="out" aria-label="Zoom out">−</button><button data-do="all">whole step</button>` +
      `<button data-do="save" title="opens in ui.perfetto.dev and chrome://tracing">save for Perfetto</button>` +
      `<span class="soft said" aria-live="polite"></span></div>
      <canvas tabindex="0" role="img" aria-label="Timeline of one step of ${time(this.t.length / 1e6)}: ` +
      `${this.t.lanes.length} lanes, ${this.t.spans.length} spans. Plus and minus zoom, arrows move."></canvas>` +
      `<p class="soft key"><i class="dot forward"></i> forward <i class="dot backward"></i> backward ` +
      `<i class="dot update"></i> update <i class="dot other"></i> XLA's own, host</p>`;
    this.canvas = this.element.querySelector("canvas");
    this.said = this.element.querySelector(".said");
    const c = this.canvas;
    let held = null;
    c.addEventListener(
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.metaKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && !this.eager) return;
        e.preventDefault();
        if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.move(e.deltaX / 600);
        else this.zoom(Math.exp(e.deltaY / 300), this.at(e));
      },
      { passive: false },
    );
    c.addEventListener("pointerdown", (e) => {
      held = { x: e.clientX, from: this.from, to: this.to, moved: false };
      this.eager = true;
      c.setPointerCapture(e.pointerId);
    });
    c.addEventListener("pointermove", (e) => {
      if (held) {
        const d = ((held.x - e.clientX) / this.width) * (held.to - held.from);
        if (Math.abs(held.x - e.clientX) > 3) held.moved = true;
        this.show(held.from + d, held.to + d);
      } else this.hover(e);
    });
    c.addEventListener("pointerup", (e) => {
      const span = this.spanAt(e);
      if (held && !held.moved && span && span[3] >= 0) this.onPick(span[3]);
      held = null;
    });
    c.addEventListener("pointerleave", () => {
      this.eager = false;
      this.said.textContent = "";
    });
    c.addEventListener("keydown", (e) => {
      const act = {
        "+": () => this.zoom(0.7),
        "=": () => this.zoom(0.7),
        "-": () => this.zoom(1.4),
        ArrowLeft: () => this.move(-0.1),
        ArrowRight: () => this.move(0.1),
        0: () => this.show(0, this.t.length),
      }[e.key];
      if (act) {
        e.preventDefault();
        e.stopPropagation();
        act();
      }
    });
    this.element.addEventListener("click", (e) => {
      const act = e.target.closest("[data-do]")?.dataset.do;
      if (act === "in") this.zoom(0.6);
      else if (act === "out") this.zoom(1.6);
      else if (act === "all") this.show(0, this.t.length);
      else if (act === "save") this.save();
    });
  }
  at(e) {
    const box = this.canvas.getBoundingClientRect();
    return this.from + (Math.max(0, e.clientX - box.left - LEFT) / this.width) * (this.to - this.from);
  }
  zoom(by, around = (this.from + this.to) / 2) {
    this.show(around - (around - this.from) * by, around + (this.to - around) * by);
  }
  move(by) {
    const d = by * (this.to - this.from);
    this.show(this.from + d, this.to + d);
  }
  show(from, to) {
    const span = Math.min(Math.max(to - from, this.t.length / 5000), this.t.length);
    this.from = Math.max(0, Math.min(from, this.t.length - span));
    this.to = this.from + span;
    this.draw();
  }
  spanAt(e) {
    const box = this.canvas.getBoundingClientRect(),
      lane = Math.floor((e.clientY - box.top - 4) / ROW),
      t = this.at(e),
      slack = (2 * (this.to - this.from)) / this.width;
    let best = null;
    for (const s of this.t.spans)
      if (s[0] === lane && s[1] - slack <= t && t <= s[1] + s[2] + slack && (!best || s[2] < best[2])) best = s;
    return best;
  }
  hover(e) {
    const s = this.spanAt(e);
    this.canvas.style.cursor = s && s[3] >= 0 ? "pointer" : "grab";
    if (!s) {
      this.said.textContent = time(this.at(e) / 1e6);
      return;
    }
    const r = s[3] >= 0 ? this.data.rows[s[3]] : null,
      how = HOW[s[4]] ? `, ${s[4]}` : "";
    this.said.textContent = `${r ? `${r.n} of ${r.q || cellOf(r.s)}, ` : ""}${s[5]}: ${time(s[2] / 1e6)}${how}`;
  }
  draw() {
    if (!this.t) return;
    const c = this.canvas,
      W = c.parentElement.clientWidth || 600,
      H = this.t.lanes.length * ROW + 26,
      ratio = window.devicePixelRatio || 1,
      paint = this.theme();
    c.width = W * ratio;
    c.height = H * ratio;
    c.style.width = `${W}px`;
    c.style.height = `${H}px`;
    this.width = W - LEFT - 4;
    const g = c.getContext("2d"),
      X = (t) => LEFT + ((t - this.from) / (this.to - this.from)) * this.width;
    g.scale(ratio, ratio);
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    this.t.lanes.forEach((name, i) => {
      g.fillStyle = i % 2 ? paint.bg : paint.panel;
      g.fillRect(0, 4 + i * ROW, W, ROW);
    });
    g.save();
    g.beginPath();
    g.rect(LEFT, 0, this.width + 4, H);
    g.clip();
    for (const [lane, start, length, row, kind, op] of this.t.spans) {
      if (start > this.to || start + length < this.from) continue;
      const x = X(start),
        w = Math.max(0.7, X(start + length) - x),
        r = row >= 0 ? this.data.rows[row] : null,
        y = 6 + lane * ROW;
      g.fillStyle = r ? paint[r.d] : kind === "data" ? paint.update : kind === "compile" ? paint.warn : paint.other;
      g.globalAlpha = kind === "inferred" ? 0.45 : 1;
      g.fillRect(x, y, w, ROW - 4);
      g.globalAlpha = 1;
      if (w > 3) {
        g.strokeStyle = paint.bg;
        g.lineWidth = 0.6;
        g.strokeRect(x, y, w, ROW - 4);
      }
      const text = r ? r.n : op,
        most = Math.floor((w - 6) / 6);
      if (most >= 3) {
        g.fillStyle = r || kind === "data" || kind === "compile" ? paint.on : paint.ink;
        g.fillText(
          text.length > most ? text.slice(0, most - 1) + "…" : text,
          Math.max(x, LEFT) + 3,
          y + (ROW - 4) / 2 + 0.5,
        );
      }
    }
    g.restore();
    g.fillStyle = paint.soft;
    this.t.lanes.forEach((name, i) => {
      const text = name.replace(/^tf_XLA(PjRtCpuClient|Eigen)?/, "thread").replace(/^\/device:/, "");
      g.fillText(text.length > 14 ? text.slice(0, 13) + "…" : text, 4, 4 + i * ROW + ROW / 2);
    });
    const span = this.to - this.from,
      step = 10 ** Math.floor(Math.log10(span / 3)),
      unit = span / step > 6 ? step * 2 : step;
    for (let t = Math.ceil(this.from / unit) * unit; t <= this.to; t += unit) {
      const x = X(t);
      g.fillRect(x, H - 22, 1, 5);
      if (x < W - 36) g.fillText(time(t / 1e6) === "0" ? "0" : time(t / 1e6), x + 3, H - 9);
    }
  }
  save() {
    const events = this.t.lanes.map((name, i) => ({ name: "thread_name", ph: "M", pid: 1, tid: i, args: { name } }));
    for (const [lane, ts, dur, row, how, op] of this.t.spans) {
      const r = row >= 0 ? this.data.rows[row] : null;
      events.push({
        name: r ? r.n : op,
        cat: how,
        ph: "X",
        pid: 1,
        tid: lane,
        ts,
        dur,
        args: r ? { kernel: op, cell: r.s, line: r.l ? formatLocation(r.l) : "", how } : { kernel: op },
      });
    }
    const url = URL.createObjectURL(
        new Blob([JSON.stringify({ traceEvents: events, displayTimeUnit: "ms" })], { type: "application/json" }),
      ),
      a = document.createElement("a");
    a.href = url;
    a.download = `${this.data.name}-step.json`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 2000);
  }
}
