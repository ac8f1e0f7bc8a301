// The minimap in a corner of the pane, with a frame around the visible part; a click moves the camera.
import { paintCanvas } from "./draw.js";

const LARGEST = 150, // pixels
  EDGE = 10;

export class Minimap {
  constructor(pane, canvas) {
    this.pane = pane;
    this.canvas = canvas;
    const on = (type, act) => canvas.addEventListener(type, act, { signal: pane.off.signal });
    on("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      this.held = true;
      this.goTo(e);
    });
    on("pointermove", (e) => {
      if (this.held) this.goTo(e);
    });
    on("pointerup", () => {
      this.held = false;
    });
  }
  // Move into a corner where it covers no box, preferably the present one; return false if there is none.
  stand(w, h) {
    const { pane, canvas } = this,
      right = pane.w - w - EDGE - pane.app.covered(),
      low = pane.h - h - EDGE;
    const free = ([left, top]) =>
      !pane.scene.boxes.some(
        (b) =>
          !b.open &&
          b.x * pane.k + pane.x < left + w &&
          (b.x + b.w) * pane.k + pane.x > left &&
          b.y * pane.k + pane.y < top + h &&
          (b.y + b.h) * pane.k + pane.y > top,
      );
    const corners = [
        [right, low],
        [right, EDGE],
        [EDGE, EDGE],
      ],
      at = [this.corner || 0, 0, 1, 2].find((c) => free(corners[c]));
    if (at === undefined) return false;
    this.corner = at;
    const [left, top] = corners[at];
    canvas.style.left = `${left}px`;
    canvas.style.top = `${top + pane.el.clientHeight - pane.h}px`;
    return true;
  }
  goTo(e) {
    const { pane, k } = this,
      r = this.canvas.getBoundingClientRect();
    pane.x = pane.w / 2 - ((e.clientX - r.left) / k) * pane.k;
    pane.y = pane.h / 2 - ((e.clientY - r.top) / k) * pane.k;
    pane.settled = "";
    pane.moved();
  }
  // Redraw the graph at the next use.
  forget() {
    this.scene = null;
  }
  paint() {
    const { pane, canvas } = this,
      { scene } = pane,
      room = Math.min(LARGEST, pane.w * 0.22),
      k = (this.k = Math.min(room / scene.w, LARGEST / scene.h)),
      all = scene.w * pane.k <= pane.w + 2 && scene.h * pane.k <= pane.h + 2;
    const w = Math.max(24, scene.w * k),
      h = Math.max(24, scene.h * k),
      scale = devicePixelRatio || 1,
      { ink, focus } = pane.app.theme();
    canvas.hidden = all || pane.w < 420 || !(this.held || this.stand(w, h));
    if (canvas.hidden) return;
    if (this.scene !== scene || this.w !== w || this.ink !== ink) {
      Object.assign(this, { scene, w, ink });
      this.still = this.draw(w, h, scale);
    }
    const ctx = canvas.getContext("2d");
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.drawImage(this.still, 0, 0);
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.strokeStyle = focus;
    ctx.lineWidth = 1.5;
    const x = Math.max(0, (-pane.x / pane.k) * k),
      y = Math.max(0, (-pane.y / pane.k) * k);
    ctx.strokeRect(
      x + 0.5,
      y + 0.5,
      Math.min(w - 1 - x, (pane.w / pane.k) * k),
      Math.min(h - 1 - y, (pane.h / pane.k) * k),
    );
  }
  // Draw the graph without the frame of the camera.
  draw(w, h, scale) {
    const { pane, canvas, scene } = this,
      still = document.createElement("canvas");
    canvas.width = still.width = w * scale;
    canvas.height = still.height = h * scale;
    canvas.style.width = `${w}px`;
    canvas.style.height = `${h}px`;
    const ctx = still.getContext("2d");
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    const view = { k: this.k, x: 0, y: 0, w, h, edges: false };
    paintCanvas(ctx, scene, pane.app.paint(pane.stage), view, pane.app.theme());
    return still;
  }
}
