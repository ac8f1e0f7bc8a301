// Format values briefly, for table cells and axis ticks.
const SIZES = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
];

// Format a number in at most about eight characters.
export function number(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value).replace("-", "−");
  for (const [unit, letter] of SIZES) if (size >= unit && size < 1e15) return `${short(value / unit)} ${letter}`;
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) {
    const [digits, power] = value.toExponential(3).split("e");
    return `${short(+digits)}e${power.replace("+", "").replace("-", "−")}`;
  }
  return short(value);
}
const short = (value) => String(+value.toPrecision(4)).replace("-", "−");

export function seconds(value) {
  if (!Number.isFinite(value)) return "–";
  if (value < 0.9995) return `${number(value * 1000)} ms`;
  if (value < 99.5) return `${+value.toPrecision(3)} s`;
  const minutes = Math.round(value / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = value / 3600;
  return hours < 48 ? `${+hours.toPrecision(3)} h` : `${+(hours / 24).toPrecision(3)} d`;
}

const two = (value) => String(value).padStart(2, "0");
export function date(unix) {
  if (!Number.isFinite(unix)) return "–";
  const at = new Date(unix * 1000);
  return (
    `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` +
    `${two(at.getHours())}:${two(at.getMinutes())}`
  );
}

export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
export const runs = (many) => `${many.toLocaleString("en")} run${many === 1 ? "" : "s"}`;
