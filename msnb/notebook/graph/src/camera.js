// The camera of a pane: a point of its scene is drawn at k * point + (x, y), in a pane of w by h pixels.
import { READABLE } from "./layout.js";

const RIM = 10, // pixels
  LEGIBLE = 0.3; // the scale from which on the name of a box is guessed at

// Position of a graph of this size in a space: as close to `wish` as possible without avoidable white space.
const filled = (wish, size, room) =>
  size < room ? (room - size) / 2 : Math.min(RIM, Math.max(room - RIM - size, wish));

export class Camera {
  k = 1;
  x = 0;
  y = 0;
  settled = ""; // "home" or "fit" while the camera is where that has put it, in a pane of any size

  // Show the complete graph if it is readable; else fit the width, and start a long graph at its top.
  home() {
    if (!this.w) return;
    const w = this.w - this.app.covered(),
      fit = Math.min((w - 24) / this.scene.w, 1.1),
      all = Math.min(fit, (this.h - 16) / this.scene.h);
    this.k = all >= READABLE ? all : Math.max(Math.min(fit, 0.9), 0.6);
    this.x = Math.max(10, (w - this.scene.w * this.k) / 2);
    this.y = this.scene.h * this.k < this.h ? (this.h - this.scene.h * this.k) / 2 : 4;
    this.moved(true);
    this.settled = "home";
  }
  fit() {
    const w = this.w - this.app.covered();
    this.k = Math.max(0.002, Math.min((w - 24) / this.scene.w, (this.h - 16) / this.scene.h, 1.1));
    this.x = (w - this.scene.w * this.k) / 2;
    this.y = (this.h - this.scene.h * this.k) / 2;
    this.moved(true);
    this.settled = "fit";
  }
  zoom(factor, px = this.w / 2, py = this.h / 2) {
    const k = Math.max(
        Math.min(0.05, this.w / this.scene.w / 2, this.h / this.scene.h / 2),
        Math.min(4, this.k * factor),
      ),
      f = k / this.k;
    this.settled = "";
    this.x = px - (px - this.x) * f;
    this.y = py - (py - this.y) * f;
    this.k = k;
    this.moved();
  }
  pan(dx, dy) {
    this.settled = "";
    this.x += dx;
    this.y += dy;
    this.moved();
  }
  centre(id, least = 0.55) {
    if (!this.w) {
      this.later = id; // not on screen yet
      return;
    }
    const at = this.scene.at.get(id);
    if (at === undefined) return;
    const b = this.scene.boxes[at];
    this.settled = "";
    if (this.k < least) this.k = Math.max(least, 0.75);
    const w = this.w - this.app.covered(),
      { scene, k } = this;
    this.x = filled(w / 2 - (b.x + b.w / 2) * k, scene.w * k, w);
    this.y = filled(this.h / 2 - (b.y + Math.min(b.h, this.h / k) / 2) * k, scene.h * k, this.h);
    this.moved();
  }
  // The width of the pane has changed: start position, with the selection visible.
  refit() {
    this.settled ||= "home";
    this.resized();
    this.home();
    const b = this.place(this.selected);
    if (b && !this.inSight(b)) this.centre(this.selected, 0);
  }
  // Move the camera as little as necessary to show a box.
  bring(id) {
    const b = this.place(id);
    if (!b || !this.w) return;
    const by = (from, size, room) => {
      const low = 24 - from,
        high = room - 24 - from - size;
      return low > 0 ? low : high < 0 ? Math.max(high, low) : 0;
    };
    if (this.k < LEGIBLE) {
      this.centre(id); // a box of some pixels is seen by nobody
      return;
    }
    const dx = by(b.x * this.k + this.x, b.w * this.k, this.w - this.app.covered()),
      dy = by(b.y * this.k + this.y, Math.min(b.h, 60) * this.k, this.h);
    if (dx || dy) this.pan(dx, dy);
  }
  // Move the selection out of the area that the panel covers.
  uncover() {
    if (this.selected >= 0 && this.app.covered()) this.bring(this.selected);
  }
  // Return true if the complete graph is visible.
  whole() {
    const { k, x, y, scene } = this;
    return x >= 0 && y >= 0 && x + scene.w * k <= this.w + 1 && y + scene.h * k <= this.h + 1;
  }
  inSight(b) {
    return (
      b.x * this.k + this.x > 0 &&
      b.y * this.k + this.y > 0 &&
      (b.x + b.w) * this.k + this.x < this.w &&
      (b.y + Math.min(b.h, 60)) * this.k + this.y < this.h
    );
  }
}
