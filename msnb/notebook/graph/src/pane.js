// One graph on screen: culling, drawing, open scopes and selection.
import { Camera } from "./camera.js";
import { Layout, HEADER } from "./layout.js";
import { flatten } from "./scene.js";
import { escape } from "../../src/escape.js";
import { pictureHtml, markers, paintCanvas, larger } from "./draw.js";
import { listenToInput } from "./input.js";
import { Minimap } from "./minimap.js";
import { mark, traces } from "./traces.js";

const MANY = 1500; // boxes in sight above which the canvas takes over
let serial = 0;
const pause = () => new Promise((done) => setTimeout(done, 0));

export class Pane extends Camera {
  // app: {paint, theme(), onSelect(id), onBusy(text), say(text), found: Set|null}
  constructor(parent, stage, app) {
    super();
    this.stage = stage;
    this.app = app;
    this.layout = new Layout(stage);
    this.mark = `msnb-tip-${++serial}`;
    this.selected = -1;
    this.hovered = -1;
    this.mates = null;
    const el = (this.el = document.createElement("div"));
    el.className = "stage";
    el.innerHTML =
      `<canvas class="far" hidden></canvas><svg tabindex="0" role="tree" aria-label="${escape(
        `graph of ${stage.graph}, ${stage.n} nodes`,
      )}">` +
      `<defs>${markers(this.mark)}</defs>` +
      `<g class="world"><g class="things"></g><g class="traces"></g></g></svg><canvas class="map" ` +
      `aria-hidden="true" hidden></canvas><div class="hint" aria-hidden="true"></div>`;
    if (app.heading) el.insertAdjacentHTML("beforeend", `<div class="heading">${escape(app.heading)}</div>`);
    parent.append(el);
    this.svg = el.querySelector("svg");
    this.world = el.querySelector(".world");
    this.things = el.querySelector(".things");
    this.traces = el.querySelector(".traces");
    this.far = el.querySelector("canvas.far");
    this.hint = el.querySelector(".hint");
    this.off = new AbortController();
    this.minimap = new Minimap(this, el.querySelector("canvas.map"));
    listenToInput(this);
    this.layout.now();
    this.build();
    this.resizer = new ResizeObserver(() => this.resized());
    this.resizer.observe(el);
  }
  destroy() {
    this.resizer.disconnect();
    this.off.abort();
    this.el.remove();
    this.scene = this.stage = this.layout = null;
    this.dead = true;
  }

  resized() {
    const w = this.el.clientWidth,
      h = this.el.clientHeight - (this.app.heading ? 22 : 0);
    if (!w || !h || (w === this.w && h === this.h)) return;
    const first = !this.w,
      looked = first ? null : this.place(this.selected),
      seen = looked && this.inSight(looked);
    if (!first) this.x += (w - this.w) / 2; // what was in the middle stays there
    this.w = w;
    this.h = h;
    if (first) this.begin();
    else if (this.settled) this[this.settled]();
    else this.moved(true);
    if (seen && !this.inSight(looked)) this.bring(this.selected);
    else if (seen) this.uncover();
    if (first && this.later !== undefined) {
      const b = this.place(this.later);
      if (b && !this.inSight(b)) this.centre(this.later);
    }
  }

  // Open scopes as long as the complete graph is visible and readable. In a graph that replaces another, only new
  // scopes are opened: the reader has opened or closed the others.
  begin() {
    this.layout.openInto(this.w - 24, this.h - 16, this.isNew);
    this.app.onOpened?.(this);
    this.arrange();
  }
  // Draw the open scopes, with the first difference visible.
  arrange() {
    const id = this.isNew ? -1 : (this.app.differs?.(this.stage) ?? -1);
    if (id >= 0) this.layout.reveal(id);
    this.layout.now();
    this.build();
    if (this.kept) this.moved(true);
    else this.home();
    const box = id >= 0 ? this.place(id) : null;
    if (box && !this.inSight(box)) this.centre(id);
  }
  moved(all = false) {
    if (all) this.drawn = null;
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (!this.dead) this.frame();
    });
  }

  // ---- drawing
  zoomClass() {
    const { k } = this;
    return k < 0.12 ? 0 : k < 0.22 ? 1 : k < 0.3 ? 2 : k < 0.4 ? 3 : k < 0.45 ? 4 : 5 + larger(k);
  }
  frame() {
    if (!this.w) return;
    this.world.setAttribute("transform", `translate(${this.x},${this.y}) scale(${this.k})`);
    const x0 = -this.x / this.k,
      y0 = -this.y / this.k,
      x1 = x0 + this.w / this.k,
      y1 = y0 + this.h / this.k,
      d = this.drawn;
    if (
      !d ||
      this.zoomClass() !== d.zoom ||
      x0 < d.x0 ||
      y0 < d.y0 ||
      x1 > d.x1 ||
      y1 > d.y1 ||
      (d.far && this.k !== d.k)
    )
      this.redraw(x0, y0, x1, y1);
    else if (d.far) this.paintFar();
    this.minimap.paint();
  }
  redraw(x0, y0, x1, y1) {
    const mx = (x1 - x0) * 0.4,
      my = (y1 - y0) * 0.4,
      cull = { x0: x0 - mx, y0: y0 - my, x1: x1 + mx, y1: y1 + my };
    const inside = (b) => b.x < cull.x1 && b.x + b.w > cull.x0 && b.y < cull.y1 && b.y + b.h > cull.y0;
    const seen = this.scene.boxes.filter(inside),
      far = seen.length > MANY;
    this.drawn = { ...cull, zoom: this.zoomClass(), far, k: this.k };
    this.far.hidden = !far;
    if (far) {
      this.things.innerHTML = "";
      this.paintFar();
      this.trace();
      return;
    }
    const { stage, layout } = this,
      paint = this.app.paint(stage),
      found = this.found;
    const edges = new Map();
    this.scene.edges.forEach((e, at) => {
      if (e.x0 < cull.x1 && e.x1 > cull.x0 && e.y0 < cull.y1 && e.y1 > cull.y0) edges.set(at, e);
    });
    this.things.innerHTML = pictureHtml(stage, layout, paint, this.scene, seen, edges, this.k, this.mark);
    const byNumber = (name) =>
      new Map([...this.things.querySelectorAll(`[data-${name}]`)].map((g) => [+g.dataset[name], g]));
    this.byId = byNumber("id");
    this.byEdge = byNumber("e");
    this.current();
    if (found)
      for (const [id, g] of this.byId) {
        const hits = found.has(id);
        const open = g.classList.contains("open");
        g.classList.toggle("hit", hits && !open);
        if (!hits && !open && !this.app.soft?.()) g.classList.add("dim");
      }
    if (this.mates) for (const id of this.mates) this.byId.get(id)?.classList.add("mate");
    this.byId.get(this.selected)?.classList.add("sel");
    this.byId.get(this.selected)?.setAttribute("aria-selected", "true");
    this.app.changing?.markBox(this);
    this.trace();
  }
  paintFar() {
    const scale = devicePixelRatio || 1,
      c = this.far;
    if (c.width !== Math.round(this.w * scale) || c.height !== Math.round(this.h * scale)) {
      c.width = Math.round(this.w * scale);
      c.height = Math.round(this.h * scale);
    }
    const ctx = c.getContext("2d");
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.clearRect(0, 0, this.w, this.h);
    paintCanvas(
      ctx,
      this.scene,
      this.app.paint(this.stage),
      { k: this.k, x: this.x, y: this.y, w: this.w, h: this.h, edges: true, titles: (id) => this.stage.title(id) },
      this.app.theme(),
    );
    this.ring(ctx);
  }
  ring(ctx) {
    const at = this.scene.at.get(this.selected);
    if (at === undefined) return;
    const b = this.scene.boxes[at];
    ctx.strokeStyle = this.app.theme().focus;
    ctx.lineWidth = 3;
    ctx.strokeRect(b.x * this.k + this.x, b.y * this.k + this.y, b.w * this.k, b.h * this.k);
  }
  // ---- state
  restyle() {
    this.drawn = null;
    this.minimap.forget();
    this.moved(true);
  }
  // Lay out again after a scope was opened or closed; the box `anchor` keeps its position on screen.
  relayout(anchor = -1) {
    const old = anchor >= 0 ? this.place(anchor) : null;
    this.settled = "";
    this.layout.now();
    this.build();
    const now = anchor >= 0 ? this.place(anchor) : null;
    if (old && now) {
      this.x += (old.x - now.x) * this.k;
      this.y += (old.y - now.y) * this.k;
    }
    this.refresh();
  }
  build() {
    this.scene = flatten(this.layout);
    this.app.onScene?.(this);
  }
  place(id) {
    const at = this.scene.at.get(id);
    return at === undefined ? null : this.scene.boxes[at];
  }
  refresh() {
    this.found = this.app.foundIn ? this.app.foundIn(this) : null;
    this.moved(true);
  }
  // Open this many levels of scopes; the box in focus keeps its position.
  async setLevel(level) {
    const { stage, layout } = this,
      anchor = this.selected >= 0 ? this.inFocus() : null; // else it starts where its heads are read
    if (level === Infinity) layout.setAll(true);
    else layout.setLevel(level);
    const turn = (this.turn = (this.turn || 0) + 1);
    this.app.onBusy("laying out …");
    await this.layout.slices(pause);
    if (this.dead || turn !== this.turn) return;
    this.app.onBusy("");
    this.build();
    this.refresh();
    this.home();
    const now = anchor && this.place(layout.standIn(anchor.id));
    if (now && !this.whole()) {
      this.settled = "";
      this.x = anchor.x - (now.x + now.w / 2) * this.k;
      this.y = anchor.y - now.y * this.k;
      if (!this.scene.boxes.some((b) => !b.open && this.inSight(b))) this.centre(first(stage, layout, now.id));
    } else if (!this.scene.boxes.some((b) => this.inSight(b))) this.centre(this.scene.boxes[0]?.id ?? -1);
    this.app.say(
      level === Infinity ? "every scope is open" : level ? `open to level ${level}` : "every scope is closed",
    );
  }
  // Return the selected box, else the one nearest to the middle, with the position of its heading on screen.
  inFocus() {
    const on = (b) => ({ id: b.id, x: this.x + (b.x + b.w / 2) * this.k, y: this.y + b.y * this.k }),
      far = (b) => Math.hypot(on(b).x - this.w / 2, on(b).y - this.h / 2),
      chosen = this.place(this.selected);
    if (chosen && this.inSight(chosen)) return on(chosen);
    const near = this.scene.boxes.filter((b) => !b.open && this.inSight(b)).sort((a, b) => far(a) - far(b))[0];
    return near ? on(near) : null;
  }
  toggle(id) {
    const scope = this.stage.scope(id);
    this.layout.toggle(scope);
    const before = this.place(id);
    this.relayout(id);
    this.app.say(`${this.stage.title(id)} ${this.layout.isOpen(id) ? "open" : "closed"}`);
    const after = this.place(id); // a scope that is opened far beyond the edge is brought into sight
    if (after && before && this.layout.isOpen(id) && !this.inSight({ ...after, h: HEADER })) this.centre(id, 0);
  }
  fold(act, index) {
    const scope = this.stage.scopes[index];
    if (act === "all" || act === "one") this.layout.showAll(scope, act === "all");
    else this.layout.step(scope, this.layout.repeat[index] + (act === "next" ? 1 : -1));
    if (scope.children.length > 60 && act === "all") {
      const turn = (this.turn = (this.turn || 0) + 1);
      this.layout.slices(pause).then(() => {
        if (turn === this.turn && !this.dead) this.relayout(scope.id);
      });
    } else this.relayout(scope.id);
  }
  // Highlight the counterparts of the selection in the other graph.
  showMates(ids) {
    if (!ids.length) {
      this.mates = null;
      this.moved(true);
      return;
    }
    let stand = new Set(ids.map((id) => this.layout.standIn(id)));
    if (stand.size === 1 && ids.length <= 4 && this.stage.isScope([...stand][0])) {
      this.layout.reveal(ids[0]);
      this.layout.now();
      this.build();
      this.refresh();
      stand = new Set(ids.map((id) => this.layout.standIn(id)));
    }
    this.mates = stand;
    const first = [...stand]
      .map((id) => this.place(id))
      .filter(Boolean)
      .sort((a, b) => a.y - b.y)[0];
    if (first && !this.inSight(first)) this.centre(first.id, 0);
    this.moved(true);
  }
  select(id, { quiet = false, show = false } = {}) {
    if (show) this.hovered = -1; // the pointer rests where another box was
    if (show && id >= 0) {
      this.layout.reveal(id);
      this.relayout(-1);
    }
    const old = this.byId?.get(this.selected);
    old?.classList.remove("sel");
    old?.removeAttribute("aria-selected");
    this.selected = id;
    const now = this.byId?.get(id);
    now?.classList.add("sel");
    now?.setAttribute("aria-selected", "true");
    this.current();
    if (show && id >= 0) this.centre(id);
    else if (this.drawn?.far) this.moved(true);
    this.trace();
    if (!quiet) this.app.onSelect(id, this);
  }

  // Set the position of a screen reader's cursor.
  current() {
    const at = this.byId?.get(this.selected);
    if (at) {
      at.id = `${this.mark}-${this.selected}`;
      this.svg.setAttribute("aria-activedescendant", at.id);
    } else this.svg.removeAttribute("aria-activedescendant");
  }

  // ---- highlighting under the pointer
  trace() {
    const id = this.hovered >= 0 ? this.hovered : this.selected;
    mark(this, id);
    this.traces.innerHTML = traces(this, id);
  }
  hover(id) {
    if (id !== this.hovered) {
      this.hovered = id;
      this.trace();
    }
  }
  tell(text) {
    this.hint.textContent = text;
    this.hint.classList.add("on");
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.hint.classList.remove("on"), 1600);
  }
}

// Return the first box in a scope that is drawn closed.
function first(stage, layout, id) {
  while (layout.isOpen(id)) id = layout.shown(stage.scope(id))[0];
  return id;
}
