// Format numbers, steps and times.
export function show(v, digits = 4) {
  if (v === null || v === undefined || Number.isNaN(v)) return "NaN";
  if (!Number.isFinite(v)) return v > 0 ? "∞" : "−∞";
  if (v === 0) return "0";
  const size = Math.abs(v),
    text = size >= 1e6 || size < 1e-3 ? v.toExponential(digits - 2) : String(+v.toPrecision(digits));
  return text
    .replace(/\.?0+e/, "e")
    .replace("e+", "e")
    .replace(/-/g, "−");
}
export const whole = (v) => Math.round(v).toLocaleString("en").replace(/-/g, "−");
export function lasting(seconds) {
  const s = Math.abs(seconds);
  if (s < 1) return `${(s * 1000).toFixed(0)} ms`;
  if (s < 120) return `${+s.toPrecision(3)} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.round((s % 86400) / 3600)} h`;
}
const two = (n) => String(n).padStart(2, "0");
// `far`: length of the axis in seconds; a shorter axis has more digits
export function clock(unix, far) {
  const d = new Date(unix * 1000),
    digits = far < 0.5 ? 3 : far < 2 ? 2 : far < 20 ? 1 : 0,
    unit = 10 ** (3 - digits), // milliseconds of the last digit
    seconds = (Math.floor((1000 * d.getSeconds() + d.getMilliseconds()) / unit) * unit) / 1000,
    text = seconds.toFixed(digits).padStart(digits ? 3 + digits : 2, "0"),
    time = `${two(d.getHours())}:${two(d.getMinutes())}${far > 7200 ? "" : `:${text}`}`;
  return far > 86400 ? `${d.getMonth() + 1}/${d.getDate()} ${time}` : time;
}
// Axes of curves and histograms
export const AXES = { step: "step", relative: "time since start", wall: "time of day" };
export const along = {
  step: (x) => `step ${whole(x)}`,
  relative: (x) => `after ${lasting(x)}`,
  wall: (x) => new Date(x * 1000).toLocaleString("en-GB"),
};

// Ticks of an axis: [[value, text]]
export function ticks(low, high, most, logarithmic) {
  if (logarithmic) {
    const first = Math.floor(Math.log10(low)),
      last = Math.ceil(Math.log10(high)),
      decades = last - first,
      every = Math.max(1, Math.ceil(decades / most)),
      made = [];
    for (let d = first; d <= last; d += every)
      for (const m of decades <= 2 ? [1, 2, 5] : [1]) {
        const v = m * 10 ** d;
        if (v >= low && v <= high) made.push([v, show(v, 3)]);
      }
    if (made.length > 2 || decades > 2) return made;
  }
  const rough = (high - low) / most;
  if (!(rough > 0)) return [[low, show(low)]];
  const unit = 10 ** Math.floor(Math.log10(rough)),
    // Steps are integers, so no tick is at 2.5.
    step = unit * [1, 2, 2.5, 5, 10].find((m) => m * unit >= rough && (m !== 2.5 || unit !== 1)),
    made = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    const v = Math.abs(k * step) < step * 1e-9 ? 0 : +(k * step).toPrecision(15);
    made.push([v, show(v, 6)]);
  }
  return made;
}
