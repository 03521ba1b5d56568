// Hides results until they are wanted: a choice that this browser remembers. first_paint.js has hidden
// them already if it is remembered. Without these scripts all is shown.
"use strict";

const KEY = "hide-results";
// Names of the blocks that the reader has opened; live updates replace the blocks themselves.
const opened = new Set();

function isHiding() {
  try {
    return localStorage.getItem(KEY) === "1";
  } catch {
    return document.documentElement.dataset.results === "hidden";
  }
}

function apply(hiding) {
  if (hiding) document.documentElement.dataset.results = "hidden";
  else delete document.documentElement.dataset.results;
  for (const button of document.querySelectorAll("[data-hide-results]")) {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(hiding));
  }
  for (const block of document.querySelectorAll("[data-spoiler]")) cover(block, hiding);
}

// A block of results gets a button that shows this block only.
function cover(block, hiding) {
  let button = block.querySelector(":scope > .reveal");
  if (!hiding || opened.has(block.dataset.spoiler)) {
    block.dataset.open = "";
    return button?.remove();
  }
  delete block.dataset.open;
  if (button) return undefined;
  button = document.createElement("button");
  button.type = "button";
  button.className = "reveal";
  button.textContent = `Show ${block.dataset.spoiler}`;
  return block.prepend(button);
}

function toggleResults(event) {
  if (event.target.closest("[data-hide-results]")) {
    const hiding = !isHiding();
    try {
      localStorage.setItem(KEY, hiding ? "1" : "0");
    } catch {
      // Where nothing is kept, it holds until the page is left.
    }
    apply(hiding);
  } else if (event.target.classList.contains("reveal")) {
    const block = event.target.parentElement;
    opened.add(block.dataset.spoiler);
    apply(isHiding());
    block.tabIndex = -1;
    block.focus();
  }
}

apply(isHiding());
document.addEventListener("arena:shown", () => apply(isHiding()));
document.addEventListener("click", toggleResults);
addEventListener("storage", () => apply(isHiding()));
