// The fourth tab: full tensors as pictures, histograms and numbers.
import { colour, DIVERGING, histogram, RAMP } from "./chart.js";
import { notes } from "./row_picker.js";
import { grid, slice } from "./slice.js";
import { escape } from "../../src/escape.js";
import { formatNumber } from "./format.js";
import { KIND } from "./labels.js";

export function tensors(app) {
  const { data } = app,
    known = data.tensors.map((t) => [t, true]),
    live = app.host.fetch ? data.at_hand.filter(([kind, name]) => !held(data, kind, name)) : [],
    all = [...known, ...live.map(([kind, name, shape]) => [{ kind, name, shape }, false])];
  if (!all.length) {
    app.main.innerHTML =
      `<div class="note">The values of whole tensors are not in this view. In a live notebook, whose kernel has the ` +
      `recording, any tensor of the last step can be chosen here. To save some with the view, name them: <code>` +
      `GradientMonitor(tensors=["conv1.weight", "weight:conv1.weight"])</code> or <code>inspect_gradients(..., ` +
      `tensors="conv*")</code>. Histograms over all steps stand beside each row of the table.</div>`;
    return;
  }
  const asked = all.findIndex(([t]) => `${t.kind}:${t.name}` === app.wanted);
  app.tensor = asked >= 0 ? asked : Math.min(app.tensor ?? 0, all.length - 1);
  const [first, there] = all[app.tensor];
  if (!there) {
    wait(app, all, first);
    return;
  }
  const tensor = first,
    numbers = tensor.steps,
    now = data.steps[app.step],
    kept = document.activeElement?.dataset?.t,
    place = document.activeElement?.selectionStart;
  const used = numbers.filter((n) => n <= now).pop() ?? numbers[0],
    at = numbers.indexOf(used),
    before = at > 0 ? numbers[at - 1] : null;
  const value = (k) => tensor.values.subarray(k * tensor.size, (k + 1) * tensor.size);
  let values = value(at);
  const difference = app.difference && before !== null;
  if (difference) {
    const old = value(at - 1);
    values = values.map((v, i) => v - old[i]);
  }
  app.slices ??= {};
  const key = `${tensor.kind}:${tensor.name}`,
    text = app.slices[key] ?? tensor.shape.map((n, i) => (i < tensor.shape.length - 2 ? "0" : ":")).join(", ");
  const cut = slice(values, tensor.shape, text);
  app.main.innerHTML =
    `<div class="controls">${choice(app, all)}
    <label class="soft">slice <input data-t="slice" size="12" aria-label="slice, as in numpy" ` +
    `value="${escape(text)}"></label>
    <label><input type="checkbox" style="height:auto" data-t="difference"${app.difference ? " checked" : ""}>` +
    ` difference to step ${before ?? "before"}</label>
    <span class="soft">${KIND[tensor.kind][1]}, step ${used}${
      used !== now ? ` (step ${now} has none)` : ""
    }${app.difference && before === null ? "; there is no step before it" : ""}</span></div>
    ${
      cut.problem
        ? `<div class="note">${escape(cut.problem)}</div>`
        : `<div class="tensors"><div><h4>image</h4><canvas role="img" aria-label="values as an image"></canvas>` +
          `<div class="soft scale"></div></div>
    <div><h4>histogram</h4>${histogram(cut.values)}</div><div style="flex:1 1 260px"><h4>values</h4>` +
          `<div class="grid">${grid(cut)}</div></div></div>`
    }${notes(app)}`;
  const box = (name) => app.main.querySelector(`[data-t=${name}]`);
  choosing(app, all);
  box("slice").addEventListener("change", () => {
    app.slices[key] = box("slice").value;
    tensors(app);
  });
  box("difference").addEventListener("change", () => {
    app.difference = box("difference").checked;
    tensors(app);
  });
  if (kept) {
    const again = box(kept);
    again?.focus();
    if (kept === "slice") again.setSelectionRange(place, place);
  }
  if (!cut.problem) image(app, cut);
}

const held = (data, kind, name) => data.tensors.some((t) => t.kind === kind && t.name === name);

function choice(app, all) {
  return `<select data-t="tensor" aria-label="tensor">${all
    .map(
      ([t], i) =>
        `<option value="${i}"${i === app.tensor ? " selected" : ""}>${escape(
          `${KIND[t.kind][0]} ${t.name} [${t.shape.join(", ")}]`,
        )}</option>`,
    )
    .join("")}</select>`;
}

function choosing(app, all) {
  const box = app.main.querySelector("[data-t=tensor]");
  box.addEventListener("change", () => {
    const [tensor, there] = all[+box.value];
    app.problem = null;
    if (there) {
      app.wanted = `${tensor.kind}:${tensor.name}`;
      tensors(app);
    } else app.fetch(tensor);
  });
}

// Offer a tensor that the kernel has and the page lacks.
function wait(app, all, tensor) {
  const kept = document.activeElement?.dataset?.t,
    now = app.data.steps.at(-1),
    asked = app.wanted === `${tensor.kind}:${tensor.name}`;
  app.main.innerHTML =
    `<div class="controls">${choice(app, all)}${asked ? "" : `<button data-t="fetch">show its values</button>`}</div>` +
    `<div class="note" role="status">${
      app.problem
        ? escape(app.problem)
        : asked
          ? `Asking the kernel for ${escape(tensor.name)} of step ${now} …`
          : `The kernel has any of these tensors of step ${now}: choose one.`
    }</div>`;
  choosing(app, all);
  app.main.querySelector("[data-t=fetch]")?.addEventListener("click", () => app.fetch(tensor));
  if (kept) app.main.querySelector(`[data-t=${kept}]`)?.focus();
}

function image(app, cut) {
  const canvas = app.main.querySelector("canvas"),
    [rows, columns] =
      cut.shape.length === 0 ? [1, 1] : cut.shape.length === 1 ? [1, cut.shape[0]] : cut.shape.slice(-2);
  const many = cut.values.length / (rows * columns),
    across = Math.ceil(Math.sqrt(many)),
    down = Math.ceil(many / across),
    gap = many > 1 ? 1 : 0;
  const width = across * (columns + gap) - gap,
    height = down * (rows + gap) - gap,
    good = [...cut.values].filter(Number.isFinite),
    most = Math.max(1e-30, ...good.map(Math.abs)),
    signed = good.some((v) => v < 0);
  canvas.width = width;
  canvas.height = height;
  const zoom = Math.max(
    1,
    Math.min(24, Math.floor(Math.min((app.root.classList.contains("narrow") ? 300 : 380) / width, 300 / height))),
  );
  canvas.style.width = `${width * zoom}px`;
  canvas.style.height = "auto";
  const context = canvas.getContext("2d"),
    picture = context.createImageData(width, height),
    stops = (signed ? DIVERGING : RAMP)[app.dark ? "dark" : "light"];
  for (let m = 0; m < many; m++)
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < columns; c++) {
        const v = cut.values[(m * rows + r) * columns + c],
          at = 4 * ((Math.floor(m / across) * (rows + gap) + r) * width + (m % across) * (columns + gap) + c);
        picture.data.set(
          [...(Number.isFinite(v) ? colour(stops, signed ? 0.5 + (0.5 * v) / most : v / most) : [214, 40, 120]), 255],
          at,
        );
      }
  context.putImageData(picture, 0, 0);
  app.main.querySelector(".scale").textContent = signed
    ? `${formatNumber(-most)} (orange) to ${formatNumber(most)} (blue)`
    : `0 to ${formatNumber(most)}`;
}
