// Slides of a notebook page. The cells stay where they are; those of other slides are hidden. A slide has steps: a
// fragment is a step of its own. The address has the number of the slide behind "#".
(() => {
  const cells = [...document.querySelectorAll("main > .jp-Cell")],
    letters = document.querySelector('meta[name="msnb-slides"]').content,
    first = [0]; // number of the first step of each slide
  let steps = 0;
  const stepOf = cells.map((cell, i) => {
    const letter = letters[i];
    if (letter === "n") return -1;
    if (letter === "s" && i > 0 && cells.slice(0, i).some((_, k) => letters[k] !== "n")) {
      first.push(++steps);
      cell.classList.add("begins");
    } else if (letter === "f") steps++;
    return steps;
  });
  const slideOf = (step) => first.findLastIndex((start) => start <= step);

  const bar = document.createElement("nav");
  bar.className = "msnb-slides";
  bar.setAttribute("aria-label", "slides");
  bar.innerHTML =
    '<button aria-label="previous slide">‹</button> <span role="status"></span> ' +
    '<button aria-label="next slide">›</button>';
  document.body.append(bar);
  const [back, onward] = bar.querySelectorAll("button");

  let at = 0;
  const show = (step) => {
    at = Math.max(0, Math.min(steps, step));
    const slide = slideOf(at);
    cells.forEach((cell, i) => {
      cell.hidden = stepOf[i] < 0; // on paper, too
      cell.classList.toggle("away", stepOf[i] > at || stepOf[i] < first[slide]);
    });
    bar.querySelector("span").textContent = `${slide + 1} / ${first.length}`;
    back.disabled = at === 0;
    onward.disabled = at === steps;
    if (location.hash !== `#${slide + 1}`) history.replaceState(null, "", `#${slide + 1}`);
    scrollTo(0, 0);
  };
  const open = () => show(first[parseInt(location.hash.slice(1), 10) - 1] ?? 0);

  const MOVES = {
    ArrowRight: () => at + 1,
    PageDown: () => at + 1,
    " ": () => at + 1,
    ArrowLeft: () => at - 1,
    PageUp: () => at - 1,
    Home: () => 0,
    End: () => steps,
  };
  addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    // a view and a field have these keys, too
    if (!move || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea, button, a, .msnb-view, .msnb")) return;
    event.preventDefault();
    show(move());
  });
  back.addEventListener("click", () => show(at - 1));
  onward.addEventListener("click", () => show(at + 1));
  addEventListener("hashchange", open);
  open();
})();
