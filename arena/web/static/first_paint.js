"use strict";
// Part of each page, before the first paint; spoilers.js does the rest later.
try {
  // So that no result flashes up.
  if (localStorage.getItem("hide-results") === "1") document.documentElement.dataset.results = "hidden";
} catch {
  // The browser keeps nothing for this site.
}

// A slow machine would otherwise paint half a page, and move it as the rest is parsed. Validators do
// not know this kind of link yet.
document.head.append(
  Object.assign(document.createElement("link"), { rel: "expect", href: "#end", blocking: "render" }),
);

// Scripts are requested after the first paint, so that they do not delay it. A tab in the background
// is not painted and waits for a second.
{
  const parsed = new Promise((resolve) => { addEventListener("DOMContentLoaded", resolve); });
  const painted = new Promise((resolve) => {
    new PerformanceObserver(resolve).observe({ type: "paint", buffered: true });
    setTimeout(resolve, 1000);
  });
  Promise.all([parsed, painted]).then(() => {
    for (const { content } of document.querySelectorAll("meta[name=script]")) {
      const script = document.createElement("script");
      script.src = content;
      script.async = false;
      document.head.append(script);
    }
  });
}
