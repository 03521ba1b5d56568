// Keeps the parts of a page that move up to date. Without it the page is complete, and stands still.
"use strict";

const state = document.getElementById("live-state");

// Where rows that have a key were, so that they can glide to where they are now.
function places(part) {
  const found = new Map();
  part.querySelectorAll("[data-key]").forEach((row, index) => {
    const { top } = row.getBoundingClientRect();
    found.set(row.dataset.key, { top, index, text: row.textContent });
  });
  return found;
}

function glide(part, before) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  part.querySelectorAll("[data-key]").forEach((row, index) => {
    const was = before.get(row.dataset.key);
    if (!was) return;
    if (was.text !== row.textContent) row.classList.add("moved");
    // A row that only shifts because something above it has grown does not slide.
    if (index === was.index || still) return;
    const by = was.top - row.getBoundingClientRect().top;
    if (!by) return;
    row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }],
      { duration: 500, easing: "ease-out" });
  });
}

function show(id, html) {
  const part = document.getElementById(id);
  if (!part) return;
  // Who reads a link with the keyboard keeps it.
  const held = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const before = places(part);
  part.innerHTML = html;
  // Other scripts complete the part: a button that they show would move the rows below it.
  part.dispatchEvent(new CustomEvent("arena:shown", { bubbles: true }));
  glide(part, before);
  if (held !== null) part.querySelector(`[href="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
}

let first = true;

function listen() {
  const source = new EventSource(document.body.dataset.live);
  source.addEventListener("parts", (event) => {
    const told = JSON.parse(event.data);
    for (const [id, html] of Object.entries(told.parts)) {
      const part = document.getElementById(id);
      // The first event repeats what the page was delivered with.
      if (first && part && part.innerHTML.trim() === html.trim()) continue;
      show(id, html);
    }
    first = false;
    state.textContent = "Live.";
    document.dispatchEvent(new CustomEvent("arena:time", { detail: told.at }));
  });
  source.addEventListener("error", () => { state.textContent = "Not connected; trying again."; });
}

if (document.body.dataset.live) listen();
