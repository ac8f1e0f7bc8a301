// Decode a message of payload.py: a JSON header followed by raw arrays.
const KINDS = { f: Float32Array, d: Float64Array, I: Uint32Array, B: Uint8Array };

// {head, array(number)}; an array is a view of the message, not a copy
export function opened(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    long = view.getUint32(0, true),
    head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + long))),
    aligned = (bytes.byteOffset + 4 + long) % 8 ? bytes.slice(4 + long) : null;
  const array = (number) => {
    const [letter, offset, count] = head.arrays[number];
    return aligned
      ? new KINDS[letter](aligned.buffer, offset, count)
      : new KINDS[letter](bytes.buffer, bytes.byteOffset + 4 + long + offset, count);
  };
  return { head, array };
}

// A message that is stored in a page is compressed.
export async function unpacked(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const SHARED = ["steps", "times", "counts", "bad"], // by the curves that have their values at the same steps
  OWN = ["low", "high", "mean"];

// The curves in a message: [{run, tag, n, columns: {steps, times, low, …}}]
export function curvesOf({ array }, part) {
  const whole = Object.fromEntries([...SHARED, ...OWN].map((name) => [name, array(part[name])]));
  let at = 0;
  return part.rows.map(([run, tag, n, long, shared]) => {
    const columns = {};
    for (const name of SHARED) columns[name] = whole[name].subarray(shared, shared + long);
    for (const name of OWN) columns[name] = whole[name].subarray(at, at + long);
    at += long;
    return { run, tag, n, columns };
  });
}
