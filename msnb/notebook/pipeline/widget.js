// Shows the picture that the kernel draws. A new picture is laid over the old one node by node, so that bars grow
// instead of jumping, and a reader's selection stays.

function lay(now, next) {
  if (now.nodeType !== next.nodeType || now.nodeName !== next.nodeName) {
    now.replaceWith(next.cloneNode(true));
    return;
  }
  if (now.nodeType === Node.TEXT_NODE) {
    if (now.data !== next.data) now.data = next.data;
    return;
  }
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  const wanted = [...next.childNodes];
  while (now.childNodes.length > wanted.length) now.lastChild.remove();
  wanted.forEach((child, i) => {
    if (i < now.childNodes.length) lay(now.childNodes[i], child);
    else now.append(child.cloneNode(true));
  });
}

function render({ model, el }) {
  const draw = () => {
    const next = document.createElement("template");
    next.innerHTML = model.get("picture");
    if (el.firstElementChild && next.content.firstElementChild)
      lay(el.firstElementChild, next.content.firstElementChild);
    else el.replaceChildren(next.content);
  };
  draw();
  model.on("change:picture", draw);
  return () => model.off("change:picture", draw);
}

export default { render };
