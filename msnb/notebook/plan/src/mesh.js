// The part of a tensor that each device of a mesh holds.
import { textColour } from "../../src/text_colour.js";

// {axis of the mesh: index along it} of device number k; `mesh` is a Map of the axes' sizes, the last axis varies
// fastest
export function placeOf(mesh, k) {
  const at = {};
  for (const [axis, size] of [...mesh].reverse()) {
    at[axis] = k % size;
    k = Math.floor(k / size);
  }
  return at;
}

// The shard of a tensor on the device with these indices: {number, ranges: [[from, to]]}
export function partOf({ shape, layout }, mesh, place) {
  let number = 0;
  const ranges = shape.map((size, i) => {
    let parts = 1,
      at = 0;
    for (const axis of layout[i] ?? []) {
      parts *= mesh.get(axis);
      at = at * mesh.get(axis) + place[axis];
    }
    number = number * parts + at;
    return [Math.floor((size * at) / parts), Math.floor((size * (at + 1)) / parts)];
  });
  return { number, ranges };
}

export const partsOf = ({ layout }, mesh) => layout.flat().reduce((product, axis) => product * mesh.get(axis), 1);

// Dark to light, distinguishable for colour-blind readers
const STOPS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];
export function colourOf(number, parts) {
  if (parts < 2) return ["#7d8b99", "#fff"];
  const at = (number / (parts - 1)) * (STOPS.length - 1),
    low = Math.min(Math.floor(at), STOPS.length - 2),
    rgb = STOPS[low].map((v, i) => Math.round(v + (STOPS[low + 1][i] - v) * (at - low)));
  return [`rgb(${rgb.join()})`, textColour(rgb)];
}

// "64/2 x 32": the axes of a tensor, and the number of shards along each
export const wordsOf = ({ shape, layout }, mesh) =>
  shape
    .map((size, i) => {
      const parts = (layout[i] ?? []).reduce((product, axis) => product * mesh.get(axis), 1);
      return parts > 1 ? `${size}/${parts}` : `${size}`;
    })
    .join(" × ") || "scalar";
