// A canvas with the resolution of the screen and the coordinates of CSS. A canvas with a background colour or an opaque
// layer is opaque, so that the browser need not blend it.
export function surface(canvas, width, height, fill) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d", { alpha: fill === undefined });
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.globalAlpha = 1;
  if (fill === undefined) pen.clearRect(0, 0, width, height);
  else if (fill instanceof Layer) fill.put(pen);
  else {
    pen.fillStyle = fill;
    pen.fillRect(0, 0, width, height);
  }
  return pen;
}

// A picture that is drawn rarely and copied often.
export class Layer {
  constructor() {
    this.canvas = document.createElement("canvas");
  }
  pen(width, height, fill) {
    this.size = [width, height];
    return surface(this.canvas, width, height, fill);
  }
  put(pen) {
    if (this.size) pen.drawImage(this.canvas, 0, 0, ...this.size);
  }
}

// Where the pointer is in an element.
export function at(event, element) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// A drag from pointerdown to pointerup, wherever the pointer moves in between. `begin` returns the actions while it
// moves and at its end, or nothing if no drag begins.
export function draggable(element, begin) {
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const box = element.getBoundingClientRect(), // asked once: each question later would lay out the page anew
      place = (e) => [e.clientX - box.left, e.clientY - box.top],
      [x, y] = place(event),
      acts = begin(x, y, event);
    if (!acts) return;
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    let moved = false;
    const move = (e) => {
        const [u, v] = place(e);
        moved ||= Math.hypot(u - x, v - y) > 3;
        if (moved) acts.move(u, v);
      },
      end = (e) => {
        element.removeEventListener("pointermove", move);
        element.removeEventListener("pointerup", end);
        element.removeEventListener("pointercancel", end);
        const [u, v] = place(e);
        acts.end(moved, u, v);
      };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  });
}
