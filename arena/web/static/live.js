// Keeps the parts of a page that move up to date. Without it the page is complete, and stands still.
"use strict";

const state = document.getElementById("live-state");

// The positions of the rows that have a key, from which they slide to their new ones.
function rowPositions(part) {
  const positions = new Map();
  part.querySelectorAll("[data-key]").forEach((row, index) => {
    const { top } = row.getBoundingClientRect();
    positions.set(row.dataset.key, { top, index, text: row.textContent });
  });
  return positions;
}

function slideRows(part, before) {
  const isReduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  part.querySelectorAll("[data-key]").forEach((row, index) => {
    const previous = before.get(row.dataset.key);
    if (!previous) return;
    if (previous.text !== row.textContent) row.classList.add("moved");
    // A row that only shifts because something above it has grown does not slide.
    if (index === previous.index || isReduced) return;
    const distance = previous.top - row.getBoundingClientRect().top;
    if (!distance) return;
    row.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }],
      { duration: 500, easing: "ease-out" });
  });
}

function show(id, html) {
  const part = document.getElementById(id);
  if (!part) return;
  // Who reads a link with the keyboard keeps it.
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const before = rowPositions(part);
  part.innerHTML = html;
  // Other scripts complete the part: a button that they show would move the rows below it.
  part.dispatchEvent(new CustomEvent("arena:shown", { bubbles: true }));
  slideRows(part, before);
  if (focused !== null) part.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

if (document.body.dataset.live) {
  followParts(document.body.dataset.live, ({ at, parts }) => {
    for (const [id, html] of Object.entries(parts)) show(id, html);
    state.textContent = "Live.";
    document.dispatchEvent(new CustomEvent("arena:time", { detail: at }));
  }, { onError: () => { state.textContent = "Not connected; trying again."; } });
}
