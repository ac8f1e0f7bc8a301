// Start a view of the gallery when it comes near the screen: twelve at once would be slow.
addEventListener("DOMContentLoaded", () => {
  const start = (entries, watch) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      target.replaceChildren(target.querySelector("template").content);
    }
  };
  const watch = new IntersectionObserver(start, { rootMargin: "300px" });
  for (const view of document.querySelectorAll(".lazy-view")) watch.observe(view);
});
