// One graph on screen: camera, culling, drawing, pointing, keyboard, minimap.
import { Layout, flatten, HEADER } from "./layout.js";
import { escape } from "../../src/escape.js";
import { boxHtml, edgeHtml, curve, paintCanvas, hit } from "./draw.js";

const MANY = 1500; // boxes in sight above which the canvas takes over
let serial = 0;
const pause = () => new Promise((done) => setTimeout(done, 0));

export class Pane {
  // app: {paint, theme(), onSelect(id), onBusy(text), say(text), found: Set|null}
  constructor(parent, stage, app) {
    this.stage = stage;
    this.app = app;
    this.layout = new Layout(stage);
    this.mark = `msnb-tip-${++serial}`;
    this.selected = -1;
    this.hovered = -1;
    this.mates = null;
    this.k = 1;
    this.x = 0;
    this.y = 0;
    const el = (this.el = document.createElement("div"));
    el.className = "stage";
    el.innerHTML =
      `<canvas class="far" hidden></canvas><svg tabindex="0" role="tree" aria-label="${escape(
        `graph of ${stage.graph}, ${stage.n} nodes`,
      )}">` +
      `<defs><marker id="${this.mark}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" ` +
      `orient="auto" markerUnits="userSpaceOnUse"><path class="tip" d="M0,1L8,4L0,7z"/></marker></defs>` +
      `<g class="world"><g class="things"></g><g class="traces"></g></g></svg><canvas class="map" ` +
      `aria-hidden="true" hidden></canvas><div class="hint" aria-hidden="true"></div>`;
    if (app.heading) el.insertAdjacentHTML("beforeend", `<div class="heading">${escape(app.heading)}</div>`);
    parent.append(el);
    this.svg = el.querySelector("svg");
    this.world = el.querySelector(".world");
    this.things = el.querySelector(".things");
    this.traces = el.querySelector(".traces");
    this.far = el.querySelector("canvas.far");
    this.map = el.querySelector("canvas.map");
    this.hint = el.querySelector(".hint");
    this.watch();
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
    const first = !this.w;
    if (!first) this.x += (w - this.w) / 2; // what was in the middle stays there
    this.w = w;
    this.h = h;
    if (first && !this.kept) this.home();
    else this.moved(true);
    if (first && this.later !== undefined) {
      const b = this.place(this.later);
      if (b && !this.inSight(b)) this.centre(this.later);
    }
  }

  // ---- camera
  // readable first: the width fits, a long graph starts at its top
  home() {
    if (!this.w) return;
    const fit = Math.min((this.w - 24) / this.scene.w, 1.1),
      all = Math.min(fit, (this.h - 16) / this.scene.h);
    this.k = Math.max(all, Math.min(fit, 0.9), 0.6);
    this.x = Math.max(10, (this.w - this.scene.w * this.k) / 2);
    this.y = this.scene.h * this.k < this.h ? (this.h - this.scene.h * this.k) / 2 : 4;
    this.moved(true);
  }
  fit() {
    this.k = Math.max(0.002, Math.min((this.w - 24) / this.scene.w, (this.h - 16) / this.scene.h, 1.1));
    this.x = (this.w - this.scene.w * this.k) / 2;
    this.y = (this.h - this.scene.h * this.k) / 2;
    this.moved(true);
  }
  zoom(factor, px = this.w / 2, py = this.h / 2) {
    const k = Math.max(
        Math.min(0.05, this.w / this.scene.w / 2, this.h / this.scene.h / 2),
        Math.min(4, this.k * factor),
      ),
      f = k / this.k;
    this.x = px - (px - this.x) * f;
    this.y = py - (py - this.y) * f;
    this.k = k;
    this.moved();
  }
  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.moved();
  }
  centre(id, least = 0.55) {
    if (!this.w) {
      this.later = id;
      return;
    } // not on screen yet
    const at = this.scene.at.get(id);
    if (at === undefined) return;
    const b = this.scene.boxes[at];
    if (this.k < least) this.k = Math.max(least, 0.75);
    this.x = this.w / 2 - (b.x + b.w / 2) * this.k;
    this.y = this.h / 2 - (b.y + Math.min(b.h, this.h / this.k) / 2) * this.k;
    this.moved();
  }
  whole() {
    const { k, x, y, scene } = this;
    return x >= 0 && y >= 0 && x + scene.w * k <= this.w + 1 && y + scene.h * k <= this.h + 1;
  } // all of it is seen
  inSight(b) {
    return (
      b.x * this.k + this.x > 0 &&
      b.y * this.k + this.y > 0 &&
      (b.x + b.w) * this.k + this.x < this.w &&
      (b.y + Math.min(b.h, 60)) * this.k + this.y < this.h
    );
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
    return this.k < 0.12 ? 0 : this.k < 0.22 ? 1 : this.k < 0.3 ? 2 : this.k < 0.4 ? 3 : this.k < 0.45 ? 4 : 5;
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
    this.paintMap();
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
      z = this.k,
      found = this.found;
    let html = this.scene.lanes
      .map((l) => `<text class="lane" x="${l.x}" y="26" text-anchor="middle">${l.name}</text>`)
      .join("");
    for (const b of seen) if (b.open) html += boxHtml(stage, layout, paint, b, z);
    for (const e of this.scene.edges)
      if (e.x0 < cull.x1 && e.x1 > cull.x0 && e.y0 < cull.y1 && e.y1 > cull.y0) html += edgeHtml(e, this.mark);
    for (const b of seen) if (!b.open) html += boxHtml(stage, layout, paint, b, z);
    this.things.innerHTML = html;
    this.byId = new Map();
    for (const g of this.things.querySelectorAll("[data-id]")) this.byId.set(+g.dataset.id, g);
    if (found)
      for (const [id, g] of this.byId) {
        const hits = found.has(id);
        const open = g.classList.contains("open");
        g.classList.toggle("hit", hits && !open);
        if (!hits && !open) g.classList.add("dim");
      }
    if (this.mates) for (const id of this.mates) this.byId.get(id)?.classList.add("mate");
    this.byId.get(this.selected)?.classList.add("sel");
    this.byId.get(this.selected)?.setAttribute("aria-selected", "true");
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
  paintMap() {
    const { scene, map } = this,
      room = Math.min(150, this.w * 0.22),
      k = Math.min(room / scene.w, 150 / scene.h);
    const all = scene.w * this.k <= this.w + 2 && scene.h * this.k <= this.h + 2;
    map.hidden = all || this.w < 420;
    if (map.hidden) return;
    const w = Math.max(24, scene.w * k),
      h = Math.max(24, scene.h * k),
      scale = devicePixelRatio || 1;
    if (this.mapped !== scene || this.mapW !== w || this.mapInk !== this.app.theme().ink) {
      this.mapped = scene;
      this.mapW = w;
      this.mapInk = this.app.theme().ink;
      map.width = w * scale;
      map.height = h * scale;
      map.style.width = `${w}px`;
      map.style.height = `${h}px`;
      const still = (this.still = document.createElement("canvas"));
      still.width = map.width;
      still.height = map.height;
      const ctx = still.getContext("2d");
      ctx.setTransform(scale, 0, 0, scale, 0, 0);
      paintCanvas(ctx, scene, this.app.paint(this.stage), { k, x: 0, y: 0, w, h, edges: false }, this.app.theme());
    }
    this.mapK = k;
    const ctx = map.getContext("2d");
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, map.width, map.height);
    ctx.drawImage(this.still, 0, 0);
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.strokeStyle = this.app.theme().focus;
    ctx.lineWidth = 1.5;
    const vx = Math.max(0, (-this.x / this.k) * k),
      vy = Math.max(0, (-this.y / this.k) * k);
    ctx.strokeRect(
      vx + 0.5,
      vy + 0.5,
      Math.min(w - 1 - vx, (this.w / this.k) * k),
      Math.min(h - 1 - vy, (this.h / this.k) * k),
    );
  }

  // ---- state
  restyle() {
    this.drawn = null;
    this.mapped = null;
    this.moved(true);
  }
  // after something was opened or closed: the box that was acted on stays where it is on screen
  relayout(anchor = -1) {
    const old = anchor >= 0 ? this.place(anchor) : null;
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
  async setAll(open) {
    this.layout.setAll(open);
    const turn = (this.turn = (this.turn || 0) + 1);
    this.app.onBusy("laying out …");
    await this.layout.slices(pause);
    if (this.dead || turn !== this.turn) return;
    this.app.onBusy("");
    this.build();
    this.refresh();
    this.home();
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
  // boxes that belong to what is selected in the graph beside this one
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
    if (show && id >= 0) this.centre(id);
    else if (this.drawn?.far) this.moved(true);
    this.trace();
    if (!quiet) this.app.onSelect(id, this);
  }

  // ---- def-use: what the box under the pointer (or the selected one) reads and feeds, across scopes
  trace() {
    const id = this.hovered >= 0 ? this.hovered : this.selected;
    for (const p of this.things.querySelectorAll(".e.in, .e.out")) p.classList.remove("in", "out");
    if (id < 0 || !this.scene.at.has(id)) {
      this.traces.innerHTML = "";
      return;
    }
    for (const p of this.things.querySelectorAll(`.e[data-b="${id}"]`)) p.classList.add("in");
    for (const p of this.things.querySelectorAll(`.e[data-a="${id}"]`)) p.classList.add("out");
    if (this.layout.isOpen(id)) {
      this.traces.innerHTML = "";
      return;
    }
    const { stage } = this,
      near = stage.home(id),
      seen = new Set();
    let html = "";
    const members = stage.isScope(id) ? stage.below(stage.scope(id)) : [id],
      here = this.place(id);
    const far = (other, feeds) => {
      const stand = this.layout.standIn(other),
        key = stand * 2 + feeds;
      if (stand === id || seen.has(key) || seen.size > 60) return;
      seen.add(key);
      const there = this.place(stand);
      if (!there || this.layout.isOpen(stand) || stage.home(stand) === near) return;
      html +=
        `<path class="${feeds ? "far-in" : "far-out"}" ` +
        `d="${this.between(feeds ? there : here, feeds ? here : there)}"/>`;
    };
    let visited = 0;
    for (const m of members) {
      if (++visited > 400) break;
      for (const ref of stage.inputs(m)) if (ref >= 0) far(ref, true);
      for (const r of stage.readers(m)) far(r, false);
    }
    this.traces.innerHTML = html;
  }
  between(a, b) {
    const ax = a.x + a.w / 2,
      bx = b.x + b.w / 2;
    if (a.x > b.x + b.w || b.x > a.x + a.w) {
      // side by side: lanes
      const right = b.x > a.x,
        x0 = right ? a.x + a.w : a.x,
        x1 = right ? b.x : b.x + b.w,
        y0 = a.y + a.h / 2,
        y1 = b.y + b.h / 2,
        mid = (x0 + x1) / 2;
      return `M${x0},${y0}C${mid},${y0} ${mid},${y1} ${x1},${y1}`;
    }
    return curve(
      a.y < b.y
        ? [
            [ax, a.y + a.h],
            [bx, b.y],
          ]
        : [
            [ax, a.y],
            [bx, b.y + b.h],
          ],
    );
  }

  // ---- pointer and keyboard
  watch() {
    const { svg } = this,
      off = (this.off = new AbortController()),
      on = (target, type, act, more) => target.addEventListener(type, act, { signal: off.signal, ...more });
    const local = (e) => {
      const r = svg.getBoundingClientRect();
      return [(e.clientX - r.left) * (this.w / r.width || 1), (e.clientY - r.top) * (this.h / r.height || 1)];
    };
    const under = (e) => {
      const [px, py] = local(e);
      return hit(this.scene, (px - this.x) / this.k, (py - this.y) / this.k);
    };
    const fingers = new Map();
    let held = null,
      strayed = false,
      spread = 0;
    on(svg, "pointerdown", (e) => {
      if (e.button > 0) return;
      fingers.set(e.pointerId, local(e));
      held = local(e);
      strayed = false;
      svg.classList.add("held");
      svg.focus({ preventScroll: true });
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()];
        spread = Math.hypot(a[0] - b[0], a[1] - b[1]);
        strayed = true;
      }
    });
    on(svg, "pointermove", (e) => {
      const p = local(e);
      if (!held) {
        const b = e.pointerType === "touch" ? null : under(e);
        this.hover(b && !b.open ? b.id : -1);
        return;
      }
      if (!fingers.has(e.pointerId)) return;
      fingers.set(e.pointerId, p);
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()],
          now = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (spread) this.zoom(now / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
        spread = now;
        return;
      }
      if (!strayed && Math.hypot(p[0] - held[0], p[1] - held[1]) < 4) return;
      if (!strayed) {
        strayed = true;
        try {
          svg.setPointerCapture(e.pointerId);
        } catch {
          /* the pointer is gone already */
        }
      }
      this.pan(p[0] - held[0], p[1] - held[1]);
      held = p;
    });
    const release = (e) => {
      fingers.delete(e.pointerId);
      if (!fingers.size) {
        held = null;
        svg.classList.remove("held");
      }
    };
    on(svg, "pointerup", release);
    on(svg, "pointercancel", release);
    on(svg, "pointerleave", () => this.hover(-1));
    on(svg, "click", (e) => {
      if (strayed) return;
      const button = e.target.closest?.("[data-act]");
      if (button) {
        this.fold(button.dataset.act, +button.dataset.fold);
        return;
      }
      const b = under(e);
      if (!b) {
        this.select(-1);
        return;
      }
      if (!this.stage.isScope(b.id)) {
        this.select(b.id);
        return;
      }
      const heading =
        !b.open ||
        (() => {
          const [, py] = local(e);
          return (py - this.y) / this.k < b.y + HEADER;
        })();
      if (heading) {
        this.select(b.id);
        this.toggle(b.id);
      } else this.select(b.id);
    });
    on(
      svg,
      "wheel",
      (e) => {
        // the page keeps its wheel until the graph was clicked, or a modifier says that it is meant
        if (!(e.ctrlKey || e.metaKey) && !this.el.contains(this.el.getRootNode().activeElement)) {
          this.tell("click the graph, or hold Ctrl, to zoom with the wheel");
          return;
        }
        e.preventDefault();
        const [px, py] = local(e),
          unit = e.deltaMode === 1 ? 18 : 1;
        if (e.shiftKey && !e.ctrlKey) this.pan(-(e.deltaY || e.deltaX) * unit, 0);
        else this.zoom(Math.exp(-e.deltaY * unit * (e.ctrlKey ? 0.006 : 0.0016)), px, py);
      },
      { passive: false },
    );
    on(svg, "keydown", (e) => this.key(e));
    on(svg, "focus", () => {
      this.app.onActive(this);
      if (this.app.keys()) this.tell("arrows move, Enter opens, + − zoom, 0 fit, / search");
    });
    const look = (e) => {
      const r = this.map.getBoundingClientRect();
      this.x = this.w / 2 - ((e.clientX - r.left) / this.mapK) * this.k;
      this.y = this.h / 2 - ((e.clientY - r.top) / this.mapK) * this.k;
      this.moved();
    };
    on(this.map, "pointerdown", (e) => {
      this.map.setPointerCapture(e.pointerId);
      this.looking = true;
      look(e);
    });
    on(this.map, "pointermove", (e) => {
      if (this.looking) look(e);
    });
    on(this.map, "pointerup", () => {
      this.looking = false;
    });
  }
  tell(text) {
    this.hint.textContent = text;
    this.hint.classList.add("on");
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.hint.classList.remove("on"), 1600);
  }
  hover(id) {
    if (id !== this.hovered) {
      this.hovered = id;
      this.trace();
    }
  }
  key(e) {
    if (e.altKey || ((e.ctrlKey || e.metaKey) && !"+-=0".includes(e.key))) return;
    const step = 60,
      arrow = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    if (arrow) {
      if (this.selected >= 0 && !e.shiftKey) this.walk(-arrow[0], -arrow[1]);
      else this.pan(arrow[0] * step, arrow[1] * step);
    } else if (e.key === "+" || e.key === "=") this.zoom(1.25);
    else if (e.key === "-") this.zoom(0.8);
    else if (e.key === "0" || e.key === "f") this.fit();
    else if (e.key === "1" || e.key === "Home") this.home();
    else if ((e.key === "Enter" || e.key === " ") && this.selected >= 0 && this.stage.isScope(this.selected))
      this.toggle(this.selected);
    else if (e.key === "Enter" && this.selected < 0) {
      const first = this.scene.boxes.find((b) => this.inSight(b));
      if (first) this.select(first.id);
    } else if (e.key === "Escape") this.app.onEscape();
    else if (e.key === "/") this.app.onFind();
    else if (e.key === "PageDown") this.pan(0, -this.h * 0.8);
    else if (e.key === "PageUp") this.pan(0, this.h * 0.8);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  // to the nearest box in that direction, whatever scope it is in
  walk(dx, dy) {
    const from = this.place(this.selected) || this.place(this.layout.standIn(this.selected));
    if (!from) return;
    const cx = (b) => b.x + b.w / 2,
      cy = (b) => (b.open ? b.y + 10 : b.y + b.h / 2);
    let best = null,
      least = Infinity;
    for (const b of this.scene.boxes) {
      if (b === from) continue;
      const along = dx ? (cx(b) - cx(from)) * dx : (cy(b) - cy(from)) * dy,
        aside = Math.abs(dx ? cy(b) - cy(from) : cx(b) - cx(from));
      if (along < 4) continue;
      const cost = along + aside * 2.5;
      if (cost < least) {
        least = cost;
        best = b;
      }
    }
    if (!best) return;
    this.select(best.id);
    if (!this.inSight(best)) this.centre(best.id, 0);
    this.app.say(`${this.stage.title(best.id)}, ${this.stage.note(best.id)}, ${this.stage.laneOf(best.id)}`);
  }
}
