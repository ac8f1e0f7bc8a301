// Roofline and memory, as SVG.
import { escape } from "../../src/escape.js";
import { roving } from "../../src/roving.js";
import { time, count, bytes, percent, cellOf, line } from "./format.js";

const log = Math.log10,
  sup = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

// FLOP/s against FLOPs per byte; the roof is what the machine does at best (Williams et al., 2009)
export function roofline(data, onPick, width) {
  const element = document.createElement("div"),
    { flops, bandwidth } = data.machine;
  const points = data.rows
    .map((r, i) => ({ r, i, x: r.w / Math.max(r.b, 1), y: r.w / Math.max(r.r, 1e-12) }))
    .filter((p) => p.r.w > 0 && p.r.b > 0 && p.r.t > 1e-4 * data.total);
  if (!points.length) {
    element.innerHTML = '<p class="soft">No operator with countable work was measured.</p>';
    return element;
  }
  const ridge = flops / bandwidth,
    roof = (x) => Math.min(flops, x * bandwidth),
    above = (p) => p.y > 1.05 * roof(p.x),
    W = Math.max(320, Math.min(width || 900, 1100)),
    H = Math.min(420, Math.max(280, W * 0.45)),
    L = 62,
    R = 14,
    T = 16,
    B = 42;
  const x0 = Math.floor(log(Math.min(ridge / 10, ...points.map((p) => p.x)))),
    x1 = Math.ceil(log(Math.max(ridge * 10, ...points.map((p) => p.x)))),
    y1 = Math.ceil(log(Math.max(flops, ...points.map((p) => p.y))) + 0.15),
    y0 = Math.min(y1 - 3, Math.floor(log(Math.max(Math.min(...points.map((p) => p.y)), flops * 1e-6))));
  const X = (v) => L + ((log(v) - x0) / (x1 - x0)) * (W - L - R),
    Y = (v) => T + ((y1 - Math.max(log(v), y0)) / (y1 - y0)) * (H - T - B),
    parts = [];
  for (let e = x0; e <= x1; e++)
    parts.push(
      `<line class="grid" x1="${X(10 ** e)}" x2="${X(10 ** e)}" y1="${T}" y2="${H - B}"/><text class="tick" ` +
        `x="${X(10 ** e)}" y="${H - B + 15}" text-anchor="middle">${e < 0 || e > 3 ? "10" + sup(e) : 10 ** e}</text>`,
    );
  for (let e = y0; e <= y1; e++)
    parts.push(
      `<line class="grid" x1="${L}" x2="${W - R}" y1="${Y(10 ** e)}" y2="${Y(10 ** e)}"/><text class="tick" ` +
        `x="${L - 6}" y="${Y(10 ** e) + 3.5}" text-anchor="end">${count(10 ** e, "F/s")}</text>`,
    );
  const left = Math.max(10 ** x0, 10 ** y0 / bandwidth);
  parts.push(
    `<path class="roof" d="M${X(left)} ${Y(left * bandwidth)}L${X(ridge)} ${Y(flops)}L${X(10 ** x1)} ${Y(flops)}"/>`,
  );
  parts.push(
    `<text class="tick" x="${W - R - 4}" y="${Y(flops) - 6}" text-anchor="end">${count(flops, "FLOP/s")} and ` +
      `${count(bandwidth, "B/s")}: this machine at best</text>`,
  );
  parts.push(`<text class="axis" x="${(L + W - R) / 2}" y="${H - 6}" text-anchor="middle">FLOPs per byte</text>`);
  for (const p of [...points].sort((a, b) => b.r.t - a.r.t)) {
    const size = 4 + 13 * Math.sqrt(p.r.t / data.total),
      x = X(p.x),
      y = Y(p.y),
      title =
        `${p.r.n} of ${p.r.q || cellOf(p.r.s) || "?"}: ${time(p.r.t)}, ${percent(p.r.t / data.total)} of the step, ` +
        `${count(p.y, "FLOP/s")}${
          above(p) ? ", above the roof" : p.r.p === null ? "" : `, ${percent(p.r.p)} of what is possible`
        }`;
    const shape =
      p.r.d === "backward"
        ? `<rect x="${x - size * 0.88}" y="${y - size * 0.88}" width="${size * 1.76}" height="${size * 1.76}"/>`
        : p.r.d === "update"
          ? `<path d="M${x} ${y - size * 1.15}l${size} ${size * 1.9}h${-2 * size}z"/>`
          : `<circle cx="${x}" cy="${y}" r="${size}"/>`;
    parts.push(
      `<g class="point ${p.r.d}${above(p) ? " above" : ""}" role="button" data-row="${p.i}" data-x="${x}" ` +
        `aria-label="${escape(title)}">` +
        `<title>${escape(title)}</title>${shape}</g>`,
    );
  }
  // the names of the largest, where they do not cover each other
  const taken = [];
  for (const p of [...points].sort((a, b) => b.r.t - a.r.t).slice(0, 10)) {
    const x = X(p.x),
      y = Y(p.y),
      size = 4 + 13 * Math.sqrt(p.r.t / data.total),
      text = `${p.r.n} ${p.r.q || cellOf(p.r.s)}`,
      w = text.length * 6.2,
      right = x + size + 6 + w < W - R,
      box = [right ? x + size + 4 : x - size - 4 - w, y - 7, w, 14];
    if (
      taken.some(
        (t) => box[0] < t[0] + t[2] && t[0] < box[0] + box[2] && box[1] < t[1] + t[3] && t[1] < box[1] + box[3],
      )
    )
      continue;
    taken.push(box);
    parts.push(`<text class="name" x="${box[0]}" y="${y + 4}">${escape(text)}</text>`);
  }
  element.innerHTML =
    `<svg viewBox="0 0 ${W} ${H}" width="${W}" height="${H}" role="group" aria-label="Roofline: ` +
    `arithmetic per second against arithmetic per byte">${parts.join("")}</svg>
    <p class="soft key">Area: time. <i class="dot forward round"></i> forward <i class="dot backward"></i>` +
    ` backward <i class="dot update tri"></i> update. Under the slope memory limits, under the level part ` +
    `arithmetic does. FLOPs and bytes are counted from the shapes. The roof is the best that was ` +
    `ever measured on this machine.${
      points.some(above)
        ? " What is ringed lies above it: its inputs were in the cache, it shares a fused kernel whose time was " +
          "divided by counted work, or the machine has always been busy when its best was measured."
        : ""
    }</p>`;
  roving(element, ".point", { order: (a, b) => a.dataset.x - b.dataset.x }); // from left to right
  const pick = (e) => {
    const at = e.target.closest("[data-row]");
    if (at) onPick(+at.dataset.row);
  };
  element.addEventListener("click", pick);
  element.addEventListener("keydown", (e) => {
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      pick(e);
    }
  });
  return element;
}

export function memory(data, width) {
  const m = data.memory,
    element = document.createElement("div");
  if (!m) {
    element.innerHTML = '<p class="soft">Memory is told of a compiled program: profile in GRAPH mode.</p>';
    return element;
  }
  const inputs = m.arguments === null ? null : Math.max(0, m.arguments - m.trained - m.state),
    out = m.outputs === null ? null : Math.max(0, m.outputs - m.shared);
  const parts = [
    ["Parameters", m.trained, "c0"],
    ["optimizer and other state", m.state, "c1"],
    ["inputs", inputs, "c2"],
    ["results", out, "c3"],
    ["working space: activations, gradients", m.temporary, "c4"],
  ].filter((p) => p[1]);
  const all = parts.reduce((s, p) => s + p[1], 0) || 1;
  const bar =
    `<div class="split" role="img" aria-label="${parts.map((p) => `${p[0]} ${bytes(p[1])}`).join(", ")}` +
    `">${parts
      .map((p) => `<i class="${p[2]}" style="width:${(100 * p[1]) / all}%" title="${p[0]}: ${bytes(p[1])}"></i>`)
      .join("")}</div><p class="legend">${parts
      .map((p) => `<span><i class="dot ${p[2]}"></i> ${p[0]} <b>${bytes(p[1])}</b></span>`)
      .join("")}</p>`;
  const W = Math.max(300, Math.min(width || 900, 1100)),
    H = 150,
    L = 56,
    last = m.curve.length ? m.curve[m.curve.length - 1][0] || 1 : 1,
    top = Math.max(...m.curve.map((p) => p[1]), 1);
  const X = (v) => L + (v / last) * (W - L - 8),
    Y = (v) => H - 22 - (v / top) * (H - 36),
    peak = m.curve.find((p) => p[1] === top);
  const curve =
    m.curve.length > 1
      ? `<h2>Results alive along the program</h2><svg viewBox="0 0 ${W} ${H}" width="${W}" height="${H}" ` +
        `role="img" aria-label="Bytes of results alive along the program, at most ${bytes(top)}">` +
        `<path class="area" d="M${X(m.curve[0][0])} ${Y(0)}${m.curve
          .map((p) => `L${X(p[0]).toFixed(1)} ${Y(p[1]).toFixed(1)}`)
          .join("")}L${X(last)} ${Y(0)}Z"/>
    <line class="grid" x1="${L}" x2="${W - 8}" y1="${Y(0)}" y2="${Y(0)}"/><text class="tick" x="${L - 6}" ` +
        `y="${Y(top) + 4}" text-anchor="end">${bytes(top)}</text><text class="tick" x="${L - 6}" y="${Y(0) + 4}" ` +
        `text-anchor="end">0</text>
    ${
      peak ? `<circle class="peak" cx="${X(peak[0])}" cy="${Y(top)}" r="4"/>` : ""
    }<text class="axis" x="${(L + W) / 2}" y="${H - 5}" text-anchor="middle">operators, in the order of the ` +
        `program</text></svg>`
      : "";
  const list = (title, rows) =>
    rows.length
      ? `<details ${title.startsWith("At") ? "open" : ""}><summary>${title}</summary><div class="scroll"><table>` +
        `<tbody>${rows
          .slice(0, 40)
          .map((r) => `<tr>${r.map((c, i) => `<td class="${i === 0 ? "num" : ""}">${c}</td>`).join("")}</tr>`)
          .join("")}</tbody></table></div></details>`
      : "";
  element.innerHTML =
    `<p class="big">${
      m.peak === null ? "" : `<b>${bytes(m.peak)}</b> at the peak, says XLA; `
    }${bytes(m.kept)} of results wait for the backward pass (as traced, before XLA fuses and shares them)</p>` +
    `${bar}${curve}
    ${list(
      "At the peak of the curve",
      m.top.slice(0, 12).map((t) => [bytes(t[0]), `<b>${escape(t[1])}</b>`, escape(t[2]), line(t[3])]),
    )}
    ${list(
      "Activations kept for the gradient",
      m.activations.map((t) => [bytes(t[0]), `<b>${escape(t[1])}</b>`, escape(t[2]), line(t[3])]),
    )}
    ${list(
      "Parameters",
      m.parameters.map((p) => [bytes(p[1]), escape(p[0]), p[2] ? "trained" : "state"]),
    )}`;
  return element;
}
