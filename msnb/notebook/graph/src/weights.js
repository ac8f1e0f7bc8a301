// Values of a Parameter, queried from the kernel and shown below its line in the panel.

export class Weights {
  constructor(app) {
    this.app = app;
  }
  // Open or close the values.
  ask(link) {
    const open = link.closest("tr").nextElementSibling;
    if (open?.matches(".held")) {
      open.remove();
      link.setAttribute("aria-expanded", "false");
    } else this.app.host.ask("weight", { name: link.dataset.weight });
  }
  show(name, html) {
    const { panel, said } = this.app,
      link = [...panel.querySelectorAll("[data-weight]")].find((one) => one.dataset.weight === name),
      line = link?.closest("tr");
    if (!line || line.nextElementSibling?.matches(".held")) return;
    line.insertAdjacentHTML("afterend", `<tr class="held"><td colspan="2"><div>${html}</div></td></tr>`);
    link.setAttribute("aria-expanded", "true");
    const held = line.nextElementSibling,
      [above, own, around] = [line, held, panel].map((one) => one.getBoundingClientRect());
    panel.scrollTop += Math.max(0, Math.min(own.bottom - around.bottom, above.top - around.top));
    said.textContent = held.innerText;
  }
}
