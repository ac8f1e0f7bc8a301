// One chart: its curves, zooms, thresholds, and the values under the cursor.
import { escape } from "../../src/escape.js";
import { icon } from "../../src/icon.js";
import { ellipsize } from "../../src/ellipsize.js";
import { csvOf, download } from "./csv.js";
import { Curve, nearest } from "./curve.js";
import { along, show } from "./format.js";
import { DASHES, drawn } from "./plot.js";

// Drawn as strokes in a square of 16, because fonts may lack a glyph.
const ICONS = {
  back: "M6 3 2.5 6.5 6 10M2.5 6.5h6.5a4 4 0 0 1 0 8H6",
  all: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  limits: "M2 4.5h12M2 11.5h12M4 8h1.5M7.25 8h1.5M10.5 8H12",
  join: "M2 12.5 6 6l3.5 4L14 3M2 4.5 6.5 12l3-3.5 4.5 4",
  csv: "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  large: "M2.5 3h11v10h-11zM5.5 6h5v4h-5z",
};

const READ = 12; // curves that are read at a time

// Stands for elements that are always visible: drawing them only requests a frame.
export const NOTHING = { visible: true, draw() {} };

export class Card {
  constructor(app, tags, name) {
    this.app = app;
    this.tags = tags;
    if (!app.zooms.has(this.key)) app.zooms.set(this.key, []);
    this.zooms = app.zooms.get(this.key);
    this.detail = null; // finer curves of a part: {first, last, curves: Map(key -> Curve)}
    this.visible = false;
    this.el = document.createElement("figure");
    this.el.className = app.large.has(this.key) ? "card large" : "card";
    this.el.tabIndex = -1;
    this.el.dataset.tag = tags.join(" + ");
    this.el.setAttribute("aria-label", tags.join(" and ")); // with its last value once it is drawn
    this.el.setAttribute("role", "group");
    this.el.innerHTML =
      `<figcaption><b title="${escape(tags.join(" + "))}">${escape(ellipsize(name, 46))}</b></figcaption>` +
      `<div class="plot"></div>`;
    this.canvas = null;
  }
  // The elements of a chart are created on first use: of hundreds of charts few become visible.
  furnish() {
    if (this.canvas) return;
    this.el.classList.add("near");
    this.find("figcaption").insertAdjacentHTML(
      "beforeend",
      `<span class="now"></span>` +
        `<span class="acts">${button("back", ICONS.back, "one zoom back")}${button("reset", ICONS.all, "all of it")}` +
        `${button("limits", ICONS.limits, "thresholds")}` +
        `${button("join", ICONS.join, "show with others in one chart")}` +
        `${button("csv", ICONS.csv, "the values as a CSV file")}${button("large", ICONS.large, "larger, smaller")}` +
        `</span>`,
    );
    this.find(".plot").innerHTML = `<canvas role="img"></canvas><i class="hair" hidden></i><i class="rect" hidden></i>`;
    this.el.insertAdjacentHTML("beforeend", `<div class="read" hidden></div>`);
    this.canvas = this.el.querySelector("canvas");
    pointed(this);
  }
  find(selector) {
    return this.el.querySelector(selector);
  }
  get key() {
    return this.tags.join("\0");
  }

  // The visible curves with their colours; tags of one chart have different dashes.
  lines() {
    const { app } = this,
      made = [];
    for (const [number, run] of app.runs.entries()) {
      if (app.hidden.has(run.id)) continue;
      for (const [at, tag] of this.tags.entries()) {
        const curve = this.fine(number, tag) ?? app.curve(number, tag);
        if (!curve?.length) continue;
        const dash = this.tags.length > 1 ? DASHES[at % DASHES.length] : app.dash(number);
        made.push({
          curve,
          run: run.id,
          name: run.name,
          tag,
          colour: app.colour(number),
          dash,
          began: run.started ?? 0,
        });
      }
    }
    return made;
  }
  fine(number, tag) {
    const zoom = this.zooms.at(-1);
    return zoom && this.detail?.zoom === zoom ? this.detail.curves.get(`${number}\0${tag}`) : undefined;
  }

  measure() {
    this.size = [this.canvas.clientWidth, this.canvas.clientHeight];
  }
  draw() {
    const { app } = this,
      [width, height] = this.size,
      { paint } = app;
    if (!width || !height) return;
    this.stale = false;
    this.shape = drawn(this.canvas, width, height, this.lines(), {
      axis: app.axis,
      log: app.log,
      smoothing: app.smoothing,
      outliers: app.outliers,
      zoom: this.zooms.at(-1),
      limits: app.limits.get(this.key),
      selected: app.lit,
      ...paint,
    });
    this.find("[data-do=back]").hidden = this.find("[data-do=reset]").hidden = !this.zooms.length;
    this.find("[data-do=join]").setAttribute(
      "aria-pressed",
      this.tags.some((tag) => app.joined.has(tag)),
    );
    this.find("[data-do=limits]").setAttribute("aria-pressed", app.limits.has(this.key));
    this.label();
    if (this.at !== undefined) this.readAt(this.at);
  }

  label() {
    const lines = this.lines(),
      last = lines.map(({ curve, name, tag }) => {
        const who = [lines.length > 1 ? name : "", this.tags.length > 1 ? tag : ""].filter(Boolean).join(" ");
        return `${who ? `${who}: ` : ""}${show(curve.last)}`;
      });
    this.find(".now").textContent = lines.length === 1 ? show(lines[0].curve.last) : "";
    const far = lines.map(({ curve }) => curve.steps[curve.length - 1] ?? 0),
      until = lines.length ? `, ${along.step(Math.max(...far))}` : "";
    const text = `${this.tags.join(" and ")}${until}; last ${last.slice(0, 6).join(", ")}`;
    this.el.setAttribute("aria-label", text);
    this.canvas.setAttribute("aria-label", `curve of ${this.tags.join(" and ")}`);
  }

  // ---------------------------------------------------------------- zoom
  zoom(box) {
    this.zooms.push(box);
    this.ask(box);
    this.changed("zoomed");
  }
  back() {
    if (!this.zooms.length) return;
    this.zooms.pop();
    this.changed(this.zooms.length ? "one zoom back" : "all of it");
  }
  reset() {
    this.zooms.length = 0;
    this.changed("all of it");
  }
  changed(words) {
    this.app.redraw(this);
    this.app.say(words);
  }
  // Ask the kernel, if there is one, for a finer curve of the visible section.
  ask(box) {
    const inside = this.lines().map(({ curve, began }) => {
      const x = (i) =>
        this.app.axis === "step" ? curve.steps[i] : curve.times[i] + (this.app.axis === "wall" ? began : 0);
      let first = Infinity,
        last = -Infinity;
      for (let i = 0; i < curve.length; i++)
        if (x(i) >= box.x0 && x(i) <= box.x1) {
          first = Math.min(first, curve.steps[i]);
          last = Math.max(last, curve.steps[Math.min(i + 1, curve.length - 1)]);
        }
      return curve.n > curve.length ? [first, last] : [Infinity, -Infinity];
    });
    const first = Math.min(...inside.map((one) => one[0])),
      last = Math.max(...inside.map((one) => one[1]));
    if (Number.isFinite(first)) this.app.ask({ detail: this.tags, first, last }, (found) => this.finer(box, found));
  }
  finer(zoom, found) {
    this.detail = {
      zoom,
      curves: new Map(found.map((one) => [`${one.run}\0${one.tag}`, new Curve(one.columns, one.n)])),
    };
    this.app.redraw(this);
  }

  // ---------------------------------------------------------------- reading
  // Show the values nearest to x beside the chart and for a screen reader.
  readAt(x, aloud = false, y = this.height) {
    const { shape, app } = this;
    if (!shape?.lines.length) return;
    this.at = x;
    this.height = y;
    const all = shape.lines.map((line) => {
      const i = nearest(line.xs, line.curve.length, x);
      return { line, i, x: line.xs[i], value: line.ys[i] };
    });
    const close = all.reduce((a, b) => (Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a)),
      hair = this.find(".hair"),
      read = this.find(".read");
    hair.hidden = read.hidden = false;
    hair.style.left = `${shape.atX(close.x)}px`;
    const far = ({ value }) => (Number.isFinite(value) ? Math.abs(shape.atY(value) - y) : Infinity);
    if (y !== undefined) all.sort((a, b) => far(a) - far(b) || 0); // of many, those beside the pointer
    const rows = all.slice(0, READ).sort((a, b) => (b.value || 0) - (a.value || 0)),
      more = all.length - rows.length;
    const words = rows.map(({ line, i, value }) => {
      const { curve } = line,
        many = curve.counts[i] > 1 ? ` (${show(curve.low[i])} to ${show(curve.high[i])})` : "",
        raw = app.smoothing && curve.counts[i] === 1 ? ` (${show(curve.mean[i])})` : "",
        bad = curve.bad[i] ? `, ${curve.bad[i]} NaN or infinite` : "",
        who = this.tags.length > 1 ? `${line.name} ${line.tag}` : line.name;
      return [line.colour, who, show(value, 5) + many + raw + bad];
    });
    read.innerHTML =
      `<span class="soft">${escape(along[app.axis](close.x))}</span>` +
      words
        .map(
          ([colour, who, text]) =>
            `<span><i style="background:${colour}"></i>${escape(who)} <b>${escape(text)}</b></span>`,
        )
        .join("") +
      (more ? `<span class="soft">and ${more} more</span>` : "");
    if (aloud) app.say(`${along[app.axis](close.x)}: ${words.map(([, who, text]) => `${who} ${text}`).join(", ")}`);
  }
  step(by) {
    const line = this.shape?.lines[0];
    if (!line) return;
    const now =
        this.at === undefined ? (by > 0 ? -1 : line.curve.length) : nearest(line.xs, line.curve.length, this.at),
      next = Math.max(0, Math.min(line.curve.length - 1, now + by));
    this.readAt(line.xs[next], true);
  }
  leave() {
    this.at = this.height = undefined;
    if (!this.canvas) return;
    this.find(".hair").hidden = this.find(".read").hidden = true;
  }

  // ---------------------------------------------------------------- thresholds
  askLimits() {
    const open = this.find(".limits");
    if (open) return open.remove();
    const form = document.createElement("form"),
      now = this.app.limits.get(this.key) ?? [];
    form.className = "limits";
    const field = (name, at) =>
      `<label>${name} <input type="text" inputmode="decimal" size="8" value="${now[at] ?? ""}"></label>`;
    form.innerHTML = `mark ${field("above", 0)} ${field("below", 1)} <button>mark</button>`;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const limits = [...form.querySelectorAll("input")].map((one) =>
        one.value.trim() === "" || Number.isNaN(+one.value) ? undefined : +one.value,
      );
      if (limits.every((one) => one === undefined)) this.app.limits.delete(this.key);
      else this.app.limits.set(this.key, limits);
      form.remove();
      this.el.focus();
      this.app.redraw(this);
    });
    form.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Escape") return;
      form.remove();
      this.el.focus();
    });
    this.el.querySelector(".plot").before(form);
    form.querySelector("input").focus();
  }

  // Export all values if there is a kernel, else those in the page.
  csv() {
    const { app } = this,
      lines = this.lines(),
      runs = app.runs.flatMap(({ id }, i) => (app.hidden.has(id) ? [] : [i])),
      name = `${this.tags.join("+").replace(/[^\w.+-]+/g, "_")}.csv`,
      whole = this.tags.flatMap((tag) => runs.map((run) => app.curve(run, tag))).filter(Boolean);
    if (app.host.ask && whole.some(({ n, length }) => n > length))
      app.ask({ csv: this.tags, runs }, (bytes) => download(name, bytes));
    else download(name, csvOf(lines));
    app.say(`${name} is written`);
  }

  large() {
    this.app.large[this.el.classList.toggle("large") ? "add" : "delete"](this.key);
    this.app.redraw(this);
    this.el.scrollIntoView({ block: "nearest" });
  }
}

const button = (what, strokes, words) =>
  `<button type="button" data-do="${what}" tabindex="-1" title="${words}" aria-label="${words}">` +
  `${icon(strokes)}</button>`;

// Pointer actions on the canvas of a card: read values, and draw a rectangle to zoom into.
function pointed(card) {
  const plot = card.find(".plot"),
    rect = card.find(".rect");
  let from = null;
  const place = (event) => {
    const box = card.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !card.shape) return;
    from = place(event);
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    const [x, y] = place(event),
      { shape } = card;
    if (!shape) return;
    if (!from) return card.readAt(shape.toX(Math.max(shape.left, Math.min(shape.right, x))), false, y);
    const flat = Math.abs(y - from[1]) < 12; // along x alone
    rect.hidden = Math.abs(x - from[0]) < 5;
    rect.style.left = `${Math.min(x, from[0])}px`;
    rect.style.width = `${Math.abs(x - from[0])}px`;
    rect.style.top = `${flat ? shape.top : Math.min(y, from[1])}px`;
    rect.style.height = `${flat ? shape.bottom - shape.top : Math.abs(y - from[1])}px`;
  });
  const end = (event) => {
    const start = from,
      { shape } = card;
    from = null;
    rect.hidden = true;
    if (!start || !shape || event.type === "pointercancel") return;
    const [x, y] = place(event),
      [a, b] = [Math.max(shape.left, Math.min(x, start[0])), Math.min(shape.right, Math.max(x, start[0]))];
    if (b - a < 5) return;
    const box = { x0: shape.toX(a), x1: shape.toX(b) };
    if (Math.abs(y - start[1]) >= 12) {
      box.y0 = shape.toY(Math.min(shape.bottom, Math.max(y, start[1])));
      box.y1 = shape.toY(Math.max(shape.top, Math.min(y, start[1])));
    }
    card.zoom(box);
  };
  plot.addEventListener("pointerup", end);
  plot.addEventListener("pointercancel", end);
  plot.addEventListener("pointerleave", () => from || card.leave());
  plot.addEventListener("dblclick", () => card.back());
}
