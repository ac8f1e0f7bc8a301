// Slices in numpy notation, and the first values of a slice.
import { formatNumber } from "./format.js";

export function slice(values, shape, text) {
  const parts = text.trim() === "" ? [] : text.split(",").map((p) => p.trim());
  if (parts.includes("..."))
    parts.splice(parts.indexOf("..."), 1, ...new Array(Math.max(0, shape.length - parts.length + 1)).fill(":"));
  if (parts.length > shape.length)
    return { problem: `The tensor has ${shape.length} axes, but the slice names ${parts.length}.` };
  const ranges = [],
    kept = [];
  for (let d = 0; d < shape.length; d++) {
    const part = parts[d] ?? ":",
      n = shape[d],
      bound = (t, other) => (t === "" || t === undefined ? other : Math.max(0, Math.min(n, +t < 0 ? n + +t : +t)));
    if (/^-?\d+$/.test(part)) {
      const i = +part < 0 ? n + +part : +part;
      if (i < 0 || i >= n) return { problem: `Index ${part} is out of range for axis ${d}, which has ${n}.` };
      ranges.push([i]);
    } else if (/^-?\d*(:-?\d*){1,2}$/.test(part)) {
      const [a, b, c] = part.split(":"),
        step = c ? +c : 1;
      if (!(step > 0)) return { problem: `The step of '${part}' should be positive.` };
      const found = [];
      for (let i = bound(a, 0); i < bound(b, n); i += step) found.push(i);
      ranges.push(found);
      kept.push(found.length);
    } else return { problem: `'${part}' is no index; write a number or start:stop:step, such as 0, :, 2:5.` };
  }
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((a, b) => a * b, 1)),
    out = [];
  const walk = (d, at) => {
    if (d === shape.length) {
      out.push(values[at]);
      return;
    }
    for (const i of ranges[d]) walk(d + 1, at + i * strides[d]);
  };
  walk(0, 0);
  return out.length ? { values: Float32Array.from(out), shape: kept, ranges } : { problem: "The slice is empty." };
}

export function grid(cut) {
  const [rows, columns] =
      cut.shape.length === 0 ? [1, 1] : cut.shape.length === 1 ? [1, cut.shape[0]] : cut.shape.slice(-2),
    r = Math.min(rows, 30),
    c = Math.min(columns, 30);
  let text = "";
  for (let i = 0; i < r; i++) {
    text += `<tr><th scope="row">${i}</th>`;
    for (let j = 0; j < c; j++) text += `<td>${formatNumber(cut.values[i * columns + j])}</td>`;
    text += `${columns > c ? "<td>…</td>" : ""}</tr>`;
  }
  return `<table><tbody>${text}${rows > r ? "<tr><th>…</th></tr>" : ""}</tbody></table>`;
}
