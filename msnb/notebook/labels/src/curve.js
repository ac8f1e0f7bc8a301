// The learning curve as SVG: accuracy on the held-out answers against labels, and that of random labels, dashed.
const WIDTH = 320,
  HEIGHT = 170,
  LEFT = 44,
  TOP = 10,
  RIGHT = 312,
  BOTTOM = 140;

export function drawCurve({ own, random, heldOut }) {
  const most = Math.max(1, ...own.map(([n]) => n), ...random.map(([n]) => n)),
    x = (n) => (LEFT + (n / most) * (RIGHT - LEFT)).toFixed(1),
    y = (accuracy) => (BOTTOM - accuracy * (BOTTOM - TOP)).toFixed(1),
    line = (points, kind) =>
      `<polyline class="${kind}" points="${points.map(([n, accuracy]) => `${x(n)},${y(accuracy)}`).join(" ")}"/>`,
    last = own.at(-1),
    grid = [0, 0.5, 1].map(
      (part) =>
        `<path class="axis" d="M${LEFT} ${y(part)}H${RIGHT}"/>` +
        `<text class="end" x="${LEFT - 5}" y="${+y(part) + 4}">${100 * part} %</text>`,
    ),
    title = last
      ? `${(100 * last[1]).toFixed(1)} % of ${heldOut} held-out answers with ${last[0]} labels`
      : "no held-out answer yet";
  return (
    `<svg class="curve" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="accuracy: ${title}">${grid.join("")}` +
    `<text x="${LEFT}" y="${BOTTOM + 16}">0</text>` +
    `<text class="end" x="${RIGHT}" y="${BOTTOM + 16}">${most > 1 ? `${most} labels` : ""}</text>` +
    `${line(random, "random")}${line(own, "own")}` +
    `${last ? `<circle cx="${x(last[0])}" cy="${y(last[1])}" r="3.5"/>` : ""}</svg>` +
    `<p class="legend"><span class="own">this session</span> <span class="random">random labels</span></p>`
  );
}
