// Scales the table so that it is seen whole below the controls; its zones have a fixed size. Part of
// each replay, after the table, so that the table is scaled when it is first painted.
"use strict";

const SMALLEST = 0.4;
// The scale below which the table may be higher than the first screen.
const SMALL = 0.5;
// The smallest share of a scrolled window that is enough for the table.
const SMALLEST_SHARE = 0.6;
// The scale of the table.
let scale = 1;

const frame = document.getElementById("fitted");
const felt = frame.firstElementChild;

// On the first screen, unless what is above leaves too little of it or the table would be too small:
// then below the controls, which stay at the top when the page is scrolled.
function roomForTable(mayScroll = false) {
  const panel = frame.parentElement.querySelector(".control-panel");
  const first = innerHeight - frame.getBoundingClientRect().top - scrollY - 8;
  const scrolled = innerHeight - panel.offsetHeight - 24;
  const embedded = document.body.classList.contains("embed");
  return embedded || (first > SMALLEST_SHARE * scrolled && !(mayScroll && scrolled > first)) ? first : scrolled;
}

// Returns the height of the table at a size.
function resized(size, width, room) {
  scale = size;
  felt.style.width = size < 1 ? `${width / size}px` : "";
  // No text on the table is smaller than 12 pixels.
  felt.style.setProperty("--least", `${12 / size}px`);
  felt.style.setProperty("--room", `${Math.floor(room / size)}px`);
  return felt.offsetHeight * size;
}

// Each layout takes long on a slow phone, so few sizes are tried. A smaller table is laid out wider
// and may have fewer lines: its height falls between the scale and its square.
function fit(mayScroll = false) {
  const room = roomForTable(mayScroll);
  felt.style.width = "";
  const width = felt.offsetWidth;
  let height = resized(1, width, room);
  const isTooHigh = height > room;
  let fitting = isTooHigh ? SMALLEST : 1;
  let size = Math.sqrt(room / height);
  for (let tries = isTooHigh ? 3 : 0; tries > 0 && size > fitting; tries -= 1) {
    height = resized(size, width, room);
    if (height <= room) fitting = size;
    size *= height <= room ? Math.sqrt(room / height) * 0.97 : (room / height) * 0.99;
  }
  if (fitting < SMALL && roomForTable(true) > room) return fit(true);
  if (scale !== fitting) height = resized(fitting, width, room);
  felt.style.transform = fitting < 1 ? `scale(${fitting})` : "";
  frame.style.height = fitting < 1 ? `${height}px` : "";
}

fit();
frame.dataset.scaled = "";
