// Shows the note of a word while the mouse is on it. A click does the same without this script.
"use strict";

const HIDE_AFTER_MS = 250;
let hiding = 0;

function hovered({ target, pointerType }) {
  const term = pointerType === "mouse" ? target.closest?.(".term") : null;
  if (term) return { term, tip: term.nextElementSibling };
  return { tip: target.closest?.(".tip") };
}

document.addEventListener("pointerover", (event) => {
  const { term, tip } = hovered(event);
  if (!tip?.showPopover) return;
  clearTimeout(hiding);
  if (term && !tip.matches(":popover-open")) tip.showPopover({ source: term });
});

document.addEventListener("pointerout", (event) => {
  const { tip } = hovered(event);
  clearTimeout(hiding);
  if (tip?.hidePopover) hiding = setTimeout(() => tip.hidePopover(), HIDE_AFTER_MS);
});
