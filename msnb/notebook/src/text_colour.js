// Black or white text for a background [red, green, blue], whichever has more contrast; at least 4.5 to 1.
export const textColour = (rgb) => {
  const [r, g, b] = rgb.map((v) => (v <= 10 ? v / 3295 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
};
