const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// Text as it may stand in HTML and SVG, in attributes too.
export const escape = (text) => String(text).replace(/[&<>"']/g, (c) => ESCAPES[c]);
