// Moves cards between two neighbouring steps. A card is identified by its rank and suit.
"use strict";

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const movingCopies = document.createElement("div");
movingCopies.className = "moving-copies";
movingCopies.setAttribute("aria-hidden", "true");
let moving = [];

function cardsIn(changed) {
  const cards = [];
  for (const { element } of changed) {
    if (!(element instanceof HTMLElement)) continue;
    for (const card of element.querySelectorAll(".card:not(.back)")) {
      if (!card.checkVisibility({ visibilityProperty: true })) continue;
      const suit = /\b[SHDCX]\b/.exec(card.className)[0];
      const name = suit + card.firstElementChild.firstChild.data;
      const box = card.firstElementChild.getBoundingClientRect();
      const size = getComputedStyle(card).getPropertyValue("--cw");
      cards.push({ card, name, box, size, area: card.closest(".area") });
    }
  }
  return cards;
}

function settle() {
  for (const animation of moving) animation.cancel();
  moving = [];
  movingCopies.replaceChildren();
}

function animate(element, frames, options) {
  const animation = element.animate(frames, { easing: "ease-out", fill: "backwards", ...options });
  moving.push(animation);
  return animation;
}

function animateCopy(copy, frames, duration) {
  animate(copy, frames, { duration, fill: "both" }).onfinish = () => copy.remove();
}

// Returns a copy above the table: the areas of tricks cut off what leaves them.
function copyOf({ card, box, size }, felt, scale) {
  const copy = card.cloneNode(true);
  copy.style.setProperty("--cw", size);
  copy.style.left = `${(box.left - felt.left) / scale}px`;
  copy.style.top = `${(box.top - felt.top) / scale}px`;
  movingCopies.append(copy);
  return copy;
}

function moveCards(before, entered) {
  const felt = movingCopies.parentElement.getBoundingClientRect();
  const duration = timer ? Math.min(380, stepMilliseconds() * 0.7) : 380;
  for (const arrival of cardsIn(entered)) {
    const at = before.findIndex(({ name }) => name === arrival.name);
    if (at < 0) {
      animate(arrival.card, { transform: ["rotateY(90deg)", "none"] }, { duration });
      continue;
    }
    const [origin] = before.splice(at, 1);
    const x = (origin.box.left - arrival.box.left) / scale;
    const y = (origin.box.top - arrival.box.top) / scale;
    if (Math.abs(x) + Math.abs(y) < 1) continue;
    const path = { transform: [`translate(${x}px, ${y}px)`, "translate(0, 0)"] };
    if (origin.area === arrival.area) {
      animate(arrival.card, path, { duration, composite: "add" });
    } else {
      animate(arrival.card, { opacity: [0, 0] }, { duration });
      animateCopy(copyOf(arrival, felt, scale), path, duration);
    }
  }
  for (const { name, ...collected } of before) {
    const end = "translateY(-1rem) scale(.7)";
    const frames = { opacity: [1, 0], transform: ["none", end] };
    animateCopy(copyOf(collected, felt, scale), frames, duration);
  }
  const pieces = entered.filter(({ element }) => element instanceof SVGElement);
  pieces.forEach(({ element }, number) => {
    const delay = element.querySelector(".run, .token") ? Math.min(60 * number, duration) : 0;
    animate(element, { opacity: [0, 1], transform: ["scale(1.5)", "none"] }, { duration, delay });
  });
}
