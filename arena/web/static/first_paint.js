"use strict";
// Part of each page, before the first paint; spoilers.js and replay.js do the rest later.
try {
  // So that no result flashes up.
  if (localStorage.getItem("hide-results") === "1") document.documentElement.dataset.results = "hidden";
} catch {
  // The browser keeps nothing for this site.
}
// replay.js lays the table out in several tasks. If it cannot be loaded, the table does not wait.
document.documentElement.dataset.laysOut = "";
setTimeout(() => { delete document.documentElement.dataset.laysOut; }, 3000);
