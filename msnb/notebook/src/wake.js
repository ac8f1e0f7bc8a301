// Replace a view's still picture by its live page after it has loaded, if scripts run. This text is the `onload` of the
// picture, so a sanitiser that removes it leaves the picture.
// Inside an attribute, names resolve to members of the element first: `addEventListener` alone would be the picture's.
((picture) => {
  const view = picture.parentElement,
    kept = (window.msnbKept ??= {}), // name -> file in base64, of every output that was seen
    wake = () => {
      // some front ends hide their outputs from the document
      for (const root of [document, view])
        for (const { dataset } of root.querySelectorAll("[data-msnb-name]")) kept[dataset.msnbName] = dataset.msnbCode;
      const missing = view.dataset.needs.split(" ").some((name) => !kept[name]);
      view.classList.toggle("still", missing);
      if (missing) return;
      window.removeEventListener("msnb:kept", wake);
      const frame = document.createElement("iframe");
      // An origin of its own: the page neither sees nor disturbs the notebook around it.
      frame.sandbox = "allow-scripts allow-downloads";
      frame.allow = "clipboard-write; fullscreen";
      frame.title = picture.alt;
      // A page with a theme switch sets the `color-scheme` of the view. The frame cannot see it, so it gets messages.
      const scheme = () => getComputedStyle(view).colorScheme,
        watch = new MutationObserver(() => frame.contentWindow?.postMessage({ theme: scheme() }, "*"));
      for (const root of [document.documentElement, document.body]) watch.observe(root, { attributes: true });
      frame.srcdoc = view.dataset.page
        .replace("<html ", `<html data-theme="${scheme()}" `)
        .replace(/@msnb:([\w-]+)/g, (_, name) => kept[name]);
      // The page reports that it has drawn, and its height if it has one: the view is no higher than its content.
      const told = ({ source, data }) => {
        if (!frame.isConnected) {
          window.removeEventListener("message", told);
          watch.disconnect();
        }
        if (source !== frame.contentWindow || !source) return;
        if (data.height > 0) view.style.setProperty("--msnb-content", `${data.height}px`);
        else view.classList.add("live");
      };
      window.addEventListener("message", told);
      view.append(frame);
    };
  window.addEventListener("msnb:kept", wake);
  wake();
  window.dispatchEvent(new Event("msnb:kept")); // a view further up may have waited for what this output carries
})(this);
