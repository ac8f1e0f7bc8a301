// Saliency maps as coloured layers, and pictures as addresses.
import { fromBase64 } from "../../src/bytes.js";

// From dark violet to yellow, which readers with any colour blindness tell apart; the alpha grows with the value.
const STOPS = [
  [55, 25, 86],
  [124, 29, 109],
  [203, 65, 73],
  [248, 135, 32],
  [252, 225, 60],
];
const TABLE = Array.from({ length: 256 }, (_, value) => {
  const at = (value / 255) * (STOPS.length - 1),
    low = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[low].map((from, i) => Math.round(from + (STOPS[low + 1][i] - from) * (at - low)));
});

// Draw grey values, one byte for each pixel with `step` bytes between them, into a canvas of the same size.
export function drawSaliency(canvas, values, width, height, step = 1) {
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    const value = values[i * step],
      [r, g, b] = TABLE[value];
    image.data.set([r, g, b, Math.round(255 * Math.sqrt(value / 255))], 4 * i);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// Draw relevance, 128 for zero: blue is positive, orange is negative, as in the bars.
export function drawRelevance(canvas, values, width, height) {
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    const value = values[i] - 128,
      colour = value >= 0 ? [0, 114, 178] : [213, 94, 0];
    image.data.set([...colour, Math.min(255, Math.round(255 * Math.sqrt(Math.abs(value) / 127)))], 4 * i);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

const ABSENT = { interrupted: "not computed: the run was interrupted", failed: "not computed: the run has failed" };

// The pictures of a folder by path. `full` ones come from the kernel and replace thumbnails.
export class Pictures {
  constructor() {
    this.encoded = new Map();
    this.urls = new Map();
    this.values = new Map(); // path -> promise of {values, width, height}
    this.problems = {};
  }
  take(images, problems, status) {
    for (const [path, text] of Object.entries(images)) if (!this.encoded.has(path)) this.encoded.set(path, text);
    this.problems = problems;
    this.absent = ABSENT[status] ?? "not there yet";
  }
  setFull(path, bytes) {
    this.forget(path);
    this.encoded.set(path, bytes);
  }
  forget(path) {
    URL.revokeObjectURL(this.urls.get(path));
    this.urls.delete(path);
    this.values.delete(path);
  }
  has(path) {
    return this.encoded.has(path);
  }
  problem(path) {
    return this.problems[path] ?? this.absent;
  }
  blob(path) {
    const data = this.encoded.get(path);
    return new Blob([typeof data === "string" ? fromBase64(data) : data], { type: "image/jpeg" });
  }
  url(path) {
    if (!this.urls.has(path)) this.urls.set(path, URL.createObjectURL(this.blob(path)));
    return this.urls.get(path);
  }
  map(path) {
    if (!this.values.has(path)) this.values.set(path, this.decode(path));
    return this.values.get(path);
  }
  async decode(path) {
    const bitmap = await createImageBitmap(this.blob(path)),
      { width, height } = bitmap,
      canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    return { values: context.getImageData(0, 0, width, height).data, width, height };
  }
  async draw(canvas, path) {
    if (canvas.dataset.path === path && canvas.dataset.full === String(typeof this.encoded.get(path) !== "string"))
      return;
    canvas.dataset.path = path;
    canvas.dataset.full = typeof this.encoded.get(path) !== "string";
    try {
      const { values, width, height } = await this.map(path);
      if (canvas.dataset.path === path) drawSaliency(canvas, values, width, height, 4);
    } catch {
      canvas.dataset.path = "";
    }
  }
  close() {
    for (const url of this.urls.values()) URL.revokeObjectURL(url);
  }
}
