// Boxes on a picture: drawn with the pointer, or added, moved and resized with keys. Numbers are pixels of the picture.
import { escape } from "../../src/escape.js";

const STEP = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const round = (value) => Math.round(value * 100) / 100;

export class Boxes {
  // field: the element around the picture; classOf() names the selected class; changed() is called after a change
  constructor(field, { width, height, label }, classes, classOf, changed) {
    Object.assign(this, { field, width, height, classes, classOf, changed });
    this.boxes = (label ?? []).map((box) => [...box]);
    this.layer = document.createElement("div");
    this.layer.className = "layer";
    field.append(this.layer);
    this.layer.addEventListener("pointerdown", (event) => this.begin(event));
    this.draw();
  }
  at(event) {
    const { left, top, width, height } = this.layer.getBoundingClientRect(),
      inside = (value, most) => Math.max(0, Math.min(most, value));
    return [
      inside(((event.clientX - left) / width) * this.width, this.width),
      inside(((event.clientY - top) / height) * this.height, this.height),
    ];
  }
  begin(event) {
    if (event.button) return;
    event.preventDefault();
    const from = this.at(event),
      box = [this.classOf(), ...from, 0, 0];
    this.layer.setPointerCapture(event.pointerId);
    this.boxes.push(box);
    const move = (event) => {
      const to = this.at(event);
      for (const axis of [0, 1]) {
        box[1 + axis] = round(Math.min(from[axis], to[axis]));
        box[3 + axis] = round(Math.abs(to[axis] - from[axis]));
      }
      this.draw();
    };
    const end = () => {
      this.layer.removeEventListener("pointermove", move);
      this.layer.removeEventListener("pointerup", end);
      this.layer.removeEventListener("pointercancel", end);
      const isClick = box[3] < this.width / 100 || box[4] < this.height / 100;
      if (isClick) this.boxes.splice(this.boxes.indexOf(box), 1);
      this.draw();
      this.changed();
    };
    this.layer.addEventListener("pointermove", move);
    this.layer.addEventListener("pointerup", end);
    this.layer.addEventListener("pointercancel", end);
  }
  // Return true if the key is one of boxes.
  press(key, isShifted) {
    const last = this.boxes.at(-1);
    if (key === "b")
      this.boxes.push([
        this.classOf(),
        ...[this.width / 4, this.height / 4, this.width / 2, this.height / 2].map(round),
      ]);
    else if (key === "Backspace" || key === "Delete") this.boxes.pop();
    else if (STEP[key] && last) {
      const unit = Math.max(1, Math.round(Math.max(this.width, this.height) / 100)),
        sizes = [this.width, this.height];
      STEP[key].forEach((direction, axis) => {
        const [start, size] = [1 + axis, 3 + axis];
        if (isShifted) last[size] = Math.max(1, Math.min(sizes[axis] - last[start], last[size] + direction * unit));
        else last[start] = Math.max(0, Math.min(sizes[axis] - last[size], last[start] + direction * unit));
      });
    } else return STEP[key] !== undefined;
    this.draw();
    this.changed();
    return true;
  }
  draw() {
    this.layer.innerHTML = this.boxes
      .map(([name, left, top, width, height]) => {
        const percent = (value, most) => `${((100 * value) / most).toFixed(2)}%`;
        return (
          `<div class="box c${this.classes.indexOf(name) % 5}" style="left:${percent(left, this.width)};` +
          `top:${percent(top, this.height)};width:${percent(width, this.width)};` +
          `height:${percent(height, this.height)}"><span>${escape(name)}</span></div>`
        );
      })
      .join("");
  }
}
