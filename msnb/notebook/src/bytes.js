// Decode bytes for a view: from the DataView of a trait or from base64 in a page, and gunzip them.
export const bytesOf = (view) =>
  view instanceof DataView ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : new Uint8Array(view || 0);
export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const found = atob(text),
    bytes = new Uint8Array(found.length);
  for (let i = 0; i < found.length; i++) bytes[i] = found.charCodeAt(i); // by `from` it takes ten times as long
  return bytes;
}
export const unzip = (bytes) =>
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
