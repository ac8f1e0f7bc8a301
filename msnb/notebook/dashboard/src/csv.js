// Export the values of curves as CSV.
const field = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const exact = (v) => String(+v.toPrecision(9)); // what was recorded are floats of 32 bits

// lines: [{curve, name, tag, began}]. A column that represents several values is exported as mean, minimum, maximum and
// number.
export function csvOf(lines) {
  const thinned = lines.some(({ curve }) => curve.n > curve.length),
    head = ["run", "tag", "step", "time", "value", ...(thinned ? ["least", "largest", "values"] : [])],
    rows = lines.flatMap(({ curve, name, tag, began }) =>
      Array.from({ length: curve.length }, (_, i) => [
        field(name),
        field(tag),
        curve.steps[i],
        (began + curve.times[i]).toFixed(3),
        exact(curve.bad[i] === curve.counts[i] ? NaN : curve.mean[i]),
        ...(thinned ? [exact(curve.low[i]), exact(curve.high[i]), curve.counts[i]] : []),
      ]),
    );
  return [head, ...rows].map((row) => `${row.join(",")}\n`).join("");
}

export function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
