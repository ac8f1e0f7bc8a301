// An icon of strokes in a square of 16, in the colour of the text around it.
export const icon = (d) =>
  `<svg width="14" height="14" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" ` +
  `aria-hidden="true"><path d="${d}"/></svg>`;
