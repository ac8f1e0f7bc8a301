// Operators and Cells as tables: sorted by any column, searched by words, with a bar behind each time.
import { escape } from "../../src/escape.js";
import { oneStop } from "../../src/grid.js";
import { ellipsize } from "../../src/ellipsize.js";
import { formatLocation } from "../../src/location.js";
import { time, count, bytes, percent, cellOf, pathOf, HOW, line } from "./format.js";

// True if a relevant share of a row's time is inferred from its neighbours.
const guessed = (r) => r.h !== "replayed" && r.i > 0.02 * r.t;
const COLUMNS = [
  ["t", "time a step", (r) => time(r.t), "num"],
  [
    "bar",
    "drawn",
    (r, d) => `<span class="bar"><i class="${r.d}" style="width:${Math.max(1, (100 * r.t) / d.most)}%"></i></span>`,
    "",
  ],
  ["share", "share", (r, d) => percent(r.t / d.total), "num"],
  [
    "h",
    "how",
    (r) =>
      `<span class="how ${r.h}" title="${HOW[r.h][1]}">${HOW[r.h][0]}<span class="away">${r.h}</span></span>${
        guessed(r) && r.h !== "inferred"
          ? ` <span class="how inferred away" ` +
            `title="${percent(r.i / r.t)} of it ${HOW.inferred[1]}">□ ${percent(r.i / r.t)}</span>`
          : ""
      }`,
    "",
  ],
  [
    "n",
    "operator",
    (r, d) =>
      `<b title="${escape(r.n)}">${escape(ellipsize(r.n.replace("XLA's copy", "copy"), d.letters))}</b>${
        r.a.length ? ` <span class="soft" title="fused with ${escape(r.a.join(", "))}">+${r.a.length}</span>` : ""
      }`,
    "name",
  ],
  [
    "p",
    "of peak",
    (r) => (r.p === null ? "" : `<span title="of what this machine could do at best">${percent(r.p)}</span>`),
    "num",
  ],
  ["w", "FLOPs", (r) => (r.w ? count(r.w) : ""), "num wide"],
  ["b", "bytes", (r) => (r.b ? bytes(r.b) : ""), "num wide least"],
  ["x", "dispatch", (r) => time(r.x), "num wide"],
  ["c", "calls", (r) => r.c || "", "num wide least"],
  ["k", "kernels", (r) => r.k || "", "num wide least"],
  [
    "s",
    "Cell",
    (r, d) =>
      r.of > 1
        ? `<span class="soft">${r.of} Cells</span>`
        : `<span title="${escape(r.s)}">${escape(ellipsize(r.q || pathOf(r.s), d.letters + 4))}</span>`,
    "name",
  ],
  ["l", "line", (r) => line(r.l), ""],
];
const key = (row, by) =>
  by === "share" ? row.t : by === "l" ? (row.l ? row.l[0] + String(row.l[1]).padStart(6, "0") : "") : (row[by] ?? -1);

const GROUPS = { each: null, line: (r) => `${r.n}|${r.l ? r.l.join(":") : r.s}`, operator: (r) => r.n };
// Join the rows of one operator or line; `from` has the numbers of the joined rows.
function grouped(rows, of) {
  const made = new Map();
  rows.forEach((r, i) => {
    const name = of ? of(r) : i,
      into = made.get(name);
    if (!into) {
      made.set(name, { ...r, from: [i], of: 1, scopes: new Set([r.s]), peak: (r.p || 0) * r.t, hows: { [r.h]: r.t } });
      return;
    }
    for (const k of ["t", "i", "w", "b", "c", "k", "x"]) into[k] += r[k];
    into.from.push(i);
    into.scopes.add(r.s);
    into.of = into.scopes.size;
    into.peak += (r.p || 0) * r.t;
    into.hows[r.h] = (into.hows[r.h] || 0) + r.t;
    into.a = [];
    if (into.l && r.l && into.l.join() !== r.l.join()) into.l = null;
  });
  return [...made.values()].map((r) =>
    r.from.length > 1
      ? { ...r, p: r.peak ? r.peak / r.t : null, h: Object.entries(r.hows).sort((a, b) => b[1] - a[1])[0][0] }
      : r,
  );
}

export class Operators {
  constructor(data, onPick) {
    this.data = data;
    this.by = "t";
    this.down = true;
    this.words = [];
    this.onPick = onPick;
    this.shown = 50;
    this.place = {}; // where the keyboard stands
    this.rows = grouped(data.rows);
    this.columns = COLUMNS.filter(([by]) => by !== "x" || data.rows.some((r) => r.x > 0));
    this.element = document.createElement("div");
    this.element.innerHTML =
      `<div class="tools"><input type="search" placeholder="operator, Cell or line" ` +
      `aria-label="Search operators"><select aria-label="Rows"><option value="each">each operator of each ` +
      `Cell</option><option value="line">by operator and line</option><option value="operator">` +
      `by operator</option></select><span class="soft hits" aria-live="polite"></span></div><div class="scroll" ` +
      `role="region" aria-label="Operators"></div>
      <p class="soft key">${Object.entries(HOW)
        .filter(([h]) => data.rows.some((r) => r.h === h || (h === "inferred" && guessed(r))))
        .map(([h, [mark, text]]) => `<span class="how ${h}">${mark}</span> ${text}`)
        .join("<br>")}</p>`;
    const input = this.element.querySelector("input"),
      select = this.element.querySelector("select");
    input.addEventListener("input", () => {
      this.words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      this.draw();
    });
    select.addEventListener("change", () => {
      this.rows = grouped(data.rows, GROUPS[select.value]);
      this.draw();
    });
    this.element.addEventListener("click", (e) => {
      const head = e.target.closest("th button"),
        more = e.target.closest(".more"),
        row = e.target.closest("tr[data-row]");
      if (head) {
        const by = head.dataset.by;
        this.down = by === this.by ? !this.down : !["n", "s", "l", "h"].includes(by);
        this.by = by;
        this.draw(by);
      } else if (more) {
        this.shown = Infinity;
        this.draw();
      } else if (row && !e.target.closest("button")) this.onPick(+row.dataset.row);
    });
    this.draw();
  }
  find(row) {
    this.words = [];
    this.element.querySelector("input").value = "";
    this.element.querySelector("select").value = "each";
    this.rows = grouped(this.data.rows);
    this.shown = Infinity;
    this.draw();
    const tr = this.element.querySelector(`tr[data-row="${row}"]`);
    if (tr) {
      tr.classList.add("lit");
      tr.scrollIntoView({ block: "nearest" });
    }
  }
  draw(focus) {
    const found = this.rows.filter((r) => {
      const text =
        `${r.n} ${r.q} ${[...r.scopes].join(" ")} ${r.h} ${r.d} ${r.l ? formatLocation(r.l) : ""}`.toLowerCase();
      return this.words.every((w) => text.includes(w));
    });
    found.sort((a, b) => {
      const x = key(a, this.by),
        y = key(b, this.by);
      return (x < y ? -1 : x > y ? 1 : 0) * (this.down ? -1 : 1);
    });
    const sum = found.reduce((s, r) => s + r.t, 0),
      letters = (this.element.clientWidth || innerWidth) > 1300 ? 34 : 22, // as wide as the column is
      scale = { most: Math.max(...this.rows.map((r) => r.t), 1e-12), total: this.data.total, letters };
    this.element.querySelector(".hits").textContent =
      `${found.length} of ${this.rows.length}: ${time(sum)}, ${percent(sum / scale.total)} of the step`;
    this.element.querySelector(".scroll").innerHTML = `<table><thead><tr>${this.columns
      .map(([by, title, , kind]) =>
        by === "bar"
          ? `<th scope="col"><span class="unseen">${title}</span></th>`
          : `<th scope="col" class="${kind}" ` +
            `aria-sort="${by === this.by ? (this.down ? "descending" : "ascending") : "none"}">` +
            `<button data-by="${by}">${title}${by === this.by ? (this.down ? " ↓" : " ↑") : ""}</button></th>`,
      )
      .join("")}</tr></thead>
      <tbody>${found
        .slice(0, this.shown)
        .map(
          (r) =>
            `<tr data-row="${r.from[0]}">${this.columns
              .map(([, , cell, kind]) => `<td class="${kind}">${cell(r, scale)}</td>`)
              .join("")}</tr>`,
        )
        .join("")}</tbody></table>
      ${found.length > this.shown ? `<button class="more">${found.length - this.shown} more</button>` : ""}`;
    this.place.focused ||= Boolean(focus);
    oneStop(this.element.querySelector("table"), this.place);
  }
}

export function cells(data) {
  const element = document.createElement("div"),
    known = new Map(data.cells.map((c) => [c.s, c])),
    below = new Map(),
    roots = [];
  for (const cell of data.cells) {
    const at = cell.s.lastIndexOf("/"),
      above = at < 0 ? null : cell.s.slice(0, at);
    if (above !== null && known.has(above)) {
      if (!below.has(above)) below.set(above, []);
      below.get(above).push(cell);
    } else roots.push(cell);
  }
  const place = {}, // where the keyboard stands
    open = new Set(),
    sum = (c) => c.f + c.b + c.u,
    most = Math.max(...data.cells.map(sum), 1e-12),
    all = roots.reduce((s, c) => s + sum(c), 0);
  // Open the levels that lead to the Cells with most of the time, even if the step is mostly idle.
  for (let level = roots; level.length;) {
    const next = [];
    for (const c of level)
      if (sum(c) > 0.15 * all && (below.get(c.s) || []).length <= 12) {
        open.add(c.s);
        next.push(...(below.get(c.s) || []));
      }
    level = next;
  }
  const width = (v) => `style="width:${(100 * v) / most}%"`;
  function rows(level, depth) {
    return level
      .map((c) => {
        const inner = below.get(c.s) || [],
          t = sum(c);
        return (
          `<tr data-cell="${escape(c.s)}"><td style="padding-left:${8 + 15 * depth}px">${
            inner.length
              ? `<button class="fold" aria-expanded="` +
                `${open.has(c.s)}" data-cell="${escape(c.s)}">${open.has(c.s) ? "▾" : "▸"}</button>`
              : '<span class="fold"></span>'
          }<span title="${escape(c.s)}">${escape(c.q || cellOf(c.s))}</span></td>
        <td class="num">${time(t)}</td><td class="num">${percent(t / data.total)}</td><td class="stack">` +
          `<span class="bar3"><i class="forward" ${width(c.f)}></i><i class="backward" ${width(c.b)}></i>` +
          `<i class="update" ${width(c.u)}></i></span></td>
        <td class="num wide">${c.f ? time(c.f) : ""}</td><td class="num wide">${c.b ? time(c.b) : ""}</td>` +
          `<td class="num wide">${c.u ? time(c.u) : ""}</td><td class="num wide">${c.w ? count(c.w) : ""}</td><td>` +
          `${line(c.l)}</td></tr>${open.has(c.s) ? rows(inner, depth + 1) : ""}`
        );
      })
      .join("");
  }
  function draw(focus) {
    element.innerHTML =
      `<div class="scroll" role="region" aria-label="Cells"><table><thead><tr>${[
        "Cell",
        "time a step",
        "share",
        '<span class="unseen">drawn</span>',
        "forward",
        "backward",
        "update",
        "FLOPs",
        "line",
      ]
        .map(
          (h, i) =>
            `<th scope="col" class="${[1, 2].includes(i) ? "num" : i > 3 && i < 8 ? "num wide" : ""}">${h}</th>`,
        )
        .join("")}</tr></thead><tbody>${rows(roots, 0)}</tbody></table></div>
      <p class="soft key"><i class="dot forward"></i> forward <i class="dot backward"></i> backward <i class="dot ` +
      `update"></i> update</p>`;
    const at = [...element.querySelectorAll("tbody tr")].findIndex((r) => r.dataset.cell === focus);
    if (at >= 0) Object.assign(place, { line: at + 1, focused: true });
    oneStop(element.querySelector("table"), place);
  }
  element.addEventListener("click", (e) => {
    // Only the keyboard activates the row itself.
    const at = e.target.closest("button.fold") ?? (e.target.matches("tr") && e.target.querySelector("button.fold"));
    if (!at) return;
    const s = at.dataset.cell;
    open.has(s) ? open.delete(s) : open.add(s);
    draw(s);
  });
  draw();
  return element;
}
