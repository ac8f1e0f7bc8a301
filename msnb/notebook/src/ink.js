// Black or white for a text on a colour, [red, green, blue]: what differs more, 4.5 times in lightness at least
export const ink = (rgb) => {
  const [r, g, b] = rgb.map((v) => (v <= 10 ? v / 3295 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
};
