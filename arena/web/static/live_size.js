// Zooms each live table so that it is seen whole, on the first screen where that leaves it enough
// room. Part of each page with live tables, after them, so that they have their size at the first
// paint. A table keeps its height through a game, so updates keep its zoom.
"use strict";
{
  const SMALLEST = 0.4;
  // The smallest share of the window that is enough for a table.
  const SMALLEST_SHARE = 0.4;

  const fit = (place) => {
    const felt = place.querySelector(".felt");
    if (!felt) return;
    const top = felt.getBoundingClientRect().top;
    // Below the table of an overlay, which does not scroll, is the latest action.
    const latest = place.id === "embed-overlay" ? place.querySelector(".latest").offsetHeight + 40 : 0;
    const first = innerHeight - top - scrollY - 8 - latest;
    const below = innerHeight - (top - place.getBoundingClientRect().top) - 8;
    const room = first > SMALLEST_SHARE * innerHeight ? first : below;
    let scale = 1;
    // A smaller table is laid out wider and may have fewer lines.
    for (let tries = 6; tries > 0; tries -= 1) {
      place.style.setProperty("--scale", String(scale));
      place.style.setProperty("--room", `${Math.floor(room / scale)}px`);
      const { height } = felt.getBoundingClientRect();
      if (height <= room || scale <= SMALLEST) return;
      scale = Math.max(SMALLEST, scale * Math.min(Math.sqrt(room / height), 0.97));
    }
  };
  const fitAll = () => {
    document.querySelectorAll("#match-table, #home-table, #embed-table, #embed-overlay, .places > div").forEach(fit);
  };
  fitAll();
  addEventListener("resize", fitAll);
  // A table that appears later.
  document.addEventListener("arena:shown", ({ target }) => {
    if (!target.style.getPropertyValue("--scale")) fitAll();
  });
}
