// The recording, decoded from the payload of msnb/notebook/gradients/payload.py.
import { fromBase64 } from "../../src/bytes.js";
import { number } from "./format.js";

export class Data {
  constructor(json) {
    Object.assign(this, json);
    for (const row of this.rows) {
      for (const name of Object.keys(row.values)) row.values[name] = row.values[name].map(number);
      if (row.values.norm) row.values.rms = row.values.norm.map((v) => (v === null ? null : v / Math.sqrt(row.size)));
      row.bars = row.bars ? fromBase64(row.bars) : null;
    }
    this.loss = this.loss.map(number);
    for (const tensor of this.tensors) unpack(tensor);
  }
  // Add a tensor from the kernel, in place of its preview.
  add(tensor) {
    this.tensors = [...this.tensors.filter((t) => t.kind !== tensor.kind || t.name !== tensor.name), unpack(tensor)];
  }
  at(row, name, step) {
    const column = row.values[name];
    return column ? column[step] : null;
  }
  barsOf(row, step) {
    if (!row.bars) return null;
    const n = this.bins,
      found = row.bars.subarray(step * n, (step + 1) * n);
    return found.some((v) => v) ? found : null;
  }
}

function unpack(tensor) {
  tensor.size = tensor.shape.reduce((a, b) => a * b, 1);
  tensor.values = new Float32Array(fromBase64(tensor.data).buffer);
  delete tensor.data;
  return tensor;
}
