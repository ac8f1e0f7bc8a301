// Input of a pane: pointer, touch, wheel, keyboard.
import { HEADER } from "./layout.js";
import { hit } from "./draw.js";

const STEP = 60; // pixels of an arrow key

export function listenToInput(pane) {
  const { svg } = pane,
    on = (type, act, more) => svg.addEventListener(type, act, { signal: pane.off.signal, ...more });
  const local = (e) => {
    const r = svg.getBoundingClientRect();
    return [(e.clientX - r.left) * (pane.w / r.width || 1), (e.clientY - r.top) * (pane.h / r.height || 1)];
  };
  const under = (e) => {
    const [px, py] = local(e);
    return hit(pane.scene, (px - pane.x) / pane.k, (py - pane.y) / pane.k);
  };
  const fingers = new Map();
  let held = null,
    strayed = false,
    spread = 0;
  on("pointerdown", (e) => {
    if (e.button > 0) return;
    fingers.set(e.pointerId, local(e));
    held = local(e);
    strayed = false;
    svg.classList.add("held");
    svg.focus({ preventScroll: true });
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      spread = Math.hypot(a[0] - b[0], a[1] - b[1]);
      strayed = true;
    }
  });
  on("pointermove", (e) => {
    const p = local(e);
    if (!held) {
      const b = e.pointerType === "touch" ? null : under(e);
      pane.hover(b && !b.open ? b.id : -1);
      return;
    }
    if (!fingers.has(e.pointerId)) return;
    fingers.set(e.pointerId, p);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()],
        now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread) pane.zoom(now / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      spread = now;
      return;
    }
    if (!strayed && Math.hypot(p[0] - held[0], p[1] - held[1]) < 4) return;
    if (!strayed) {
      strayed = true;
      try {
        svg.setPointerCapture(e.pointerId);
      } catch {
        /* the pointer is gone already */
      }
    }
    pane.pan(p[0] - held[0], p[1] - held[1]);
    held = p;
  });
  const release = (e) => {
    fingers.delete(e.pointerId);
    if (!fingers.size) {
      held = null;
      svg.classList.remove("held");
    }
  };
  on("pointerup", release);
  on("pointercancel", release);
  on("pointerleave", () => pane.hover(-1));
  on("click", (e) => {
    if (strayed) return;
    const button = e.target.closest?.("[data-act]");
    if (button) {
      pane.fold(button.dataset.act, +button.dataset.fold);
      return;
    }
    const b = under(e);
    if (!b) {
      pane.select(-1);
      return;
    }
    const heading = !b.open || (local(e)[1] - pane.y) / pane.k < b.y + HEADER;
    pane.select(b.id);
    if (heading && pane.stage.isScope(b.id)) pane.toggle(b.id);
  });
  on(
    "wheel",
    (e) => {
      // The page keeps the wheel until the graph is clicked or a modifier key is pressed.
      if (!(e.ctrlKey || e.metaKey) && !pane.el.contains(pane.el.getRootNode().activeElement)) {
        pane.tell("click the graph, or hold Ctrl, to zoom with the wheel");
        return;
      }
      e.preventDefault();
      const [px, py] = local(e),
        unit = e.deltaMode === 1 ? 18 : 1;
      if (e.shiftKey && !e.ctrlKey) pane.pan(-(e.deltaY || e.deltaX) * unit, 0);
      else pane.zoom(Math.exp(-e.deltaY * unit * (e.ctrlKey ? 0.006 : 0.0016)), px, py);
    },
    { passive: false },
  );
  on("keydown", (e) => handleKey(pane, e));
  on("focus", () => {
    pane.app.onActive(pane);
    if (pane.app.keys()) pane.tell("arrows move, Enter opens, + − zoom, 0 fit, / search, ? all keys");
  });
}

function handleKey(pane, e) {
  if (e.altKey || ((e.ctrlKey || e.metaKey) && !"+-=0".includes(e.key))) return;
  const arrow = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
  if (arrow) {
    if (pane.selected >= 0 && !e.shiftKey) selectNeighbour(pane, -arrow[0], -arrow[1]);
    else pane.pan(arrow[0] * STEP, arrow[1] * STEP);
  } else if (e.key === "+" || e.key === "=") pane.zoom(1.25);
  else if (e.key === "-") pane.zoom(0.8);
  else if (e.key === "0" || e.key === "f") pane.fit();
  else if (e.key === "1" || e.key === "Home") pane.home();
  else if ((e.key === "Enter" || e.key === " ") && pane.selected >= 0 && pane.stage.isScope(pane.selected))
    pane.toggle(pane.selected);
  else if (e.key === "Enter" && pane.selected < 0) {
    const first = pane.scene.boxes.find((b) => pane.inSight(b));
    if (first) pane.select(first.id);
  } else if (e.key === "Escape") pane.app.onEscape();
  else if (e.key === "/") pane.app.onFind();
  else if (e.key === "?") pane.app.onHelp?.();
  else if (e.key === "PageDown") pane.pan(0, -pane.h * 0.8);
  else if (e.key === "PageUp") pane.pan(0, pane.h * 0.8);
  else return;
  e.preventDefault();
  e.stopPropagation();
}

// Select the nearest box in that direction, in any scope. Sideways, prefer a box on the same row, or the counterpart in
// another lane.
function selectNeighbour(pane, dx, dy) {
  const { stage } = pane,
    from = pane.place(pane.selected) || pane.place(pane.layout.standIn(pane.selected));
  if (!from) return;
  const cx = (b) => b.x + b.w / 2,
    cy = (b) => (b.open ? b.y + 10 : b.y + b.h / 2),
    ahead = (b) => (dx ? (cx(b) - cx(from)) * dx : (cy(b) - cy(from)) * dy),
    aside = (b) => Math.abs(dx ? cy(b) - cy(from) : cx(b) - cx(from)),
    level = (b) => dx && !b.open && aside(b) < (b.h + from.h) / 2,
    mate = dx ? pairOf(stage, from.id) : -1,
    twin = mate >= 0 ? pane.place(pane.layout.standIn(mate)) : null,
    other = (b) => stage.laneOf(b.id) !== stage.laneOf(from.id);
  let best = null,
    least = Infinity;
  for (const b of pane.scene.boxes) {
    if (b === from || ahead(b) < 4) continue;
    const away = b === twin ? 0 : other(b) ? 1e4 : 0,
      cost = ahead(b) + (level(b) ? 0 : aside(b) * 2.5 + (dx ? 1e6 : 0)) + away;
    if (cost < least) {
      least = cost;
      best = b;
    }
  }
  if (!best) return;
  pane.select(best.id);
  pane.bring(best.id);
  pane.app.say(`${stage.title(best.id)}, ${stage.note(best.id)}, ${stage.laneOf(best.id)}`);
}
function pairOf(stage, id) {
  if (stage.isArgument(id)) return -1;
  return stage.twin[id] >= 0 ? stage.twin[id] : stage.level[id];
}
