// Scales the table so that it is seen whole below the controls; its zones have a fixed size.
"use strict";

const SMALLEST = 0.4;
// The scale of the table.
let scale = 1;

const frame = document.getElementById("fitted");
const felt = frame.firstElementChild;
// The parts of the table that are laid out one after the other when the page is opened.
const areas = felt.querySelectorAll(".title, .seat > .stack, .area > [data-a], .trick-table tr");

function roomForTable() {
  const panel = replay.querySelector(".control-panel");
  const embedded = document.body.classList.contains("embed");
  const above = embedded ? frame.getBoundingClientRect().top + scrollY : panel.offsetHeight + 16;
  return innerHeight - above - 8;
}

function resize(size, width, room) {
  scale = size;
  felt.style.width = size < 1 ? `${width / size}px` : "";
  felt.style.setProperty("--room", `${Math.floor(room / size)}px`);
}

// Yields the sizes to try, receives the height of the table at each, and returns the size that
// fits. Each layout takes long on a slow phone, so few sizes are tried. A smaller table is laid out
// wider and may have fewer lines: its height falls between the scale and its square.
function* sizes(room) {
  let height = yield 1;
  const isTooHigh = height > room;
  let fitting = isTooHigh ? SMALLEST : 1;
  let size = Math.sqrt(room / height);
  for (let tries = isTooHigh ? 3 : 0; tries > 0 && size > fitting; tries -= 1) {
    height = yield size;
    if (height <= room) fitting = size;
    size *= height <= room ? Math.sqrt(room / height) * 0.97 : (room / height) * 0.99;
  }
  if (scale !== fitting) height = yield fitting;
  felt.style.transform = fitting < 1 ? `scale(${fitting})` : "";
  frame.style.height = fitting < 1 ? `${height}px` : "";
}

// Counts the fits: a later one ends the one that the opening of the page began.
let fits = 0;

function fit() {
  fits += 1;
  showTable();
  const room = roomForTable();
  felt.style.width = "";
  const width = felt.offsetWidth;
  const search = sizes(room);
  for (let { value, done } = search.next(); !done;) {
    resize(value, width, room);
    ({ value, done } = search.next(felt.offsetHeight * value));
  }
}

function showTable() {
  delete document.documentElement.dataset.laysOut;
  for (const part of [frame, ...areas]) part.classList.remove("waits", "unseen");
  frame.dataset.fitted = "";
}

// The same in short tasks: each lays out or shows few parts of the table.
async function fitInTasks() {
  const started = fits;
  const shown = [frame, ...felt.querySelectorAll(".title, .seat, .zone")];
  for (const part of shown) part.classList.add("unseen");
  delete document.documentElement.dataset.laysOut;
  for (const area of areas) area.classList.add("waits");
  const room = roomForTable();
  const width = felt.offsetWidth;
  await endTask();
  if (fits !== started) return;
  const search = sizes(room);
  for (let { value, done } = search.next(); !done;) {
    resize(value, width, room);
    for (const area of felt.querySelectorAll(".waits")) {
      area.classList.remove("waits");
      // Reading the height lays the area out.
      void felt.offsetHeight;
      await endLongTask();
      if (fits !== started) return;
    }
    ({ value, done } = search.next(felt.offsetHeight * value));
    await endTask();
    if (fits !== started) return;
  }
  for (const part of shown) {
    part.classList.remove("unseen");
    await new Promise((resume) => { requestAnimationFrame(resume); });
    if (fits !== started) return;
  }
  frame.dataset.fitted = "";
}

function theatre() {
  const on = document.body.classList.toggle("theatre");
  if (on) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  fit();
}

// The browser's own key leaves full screen too.
function leave() {
  if (!document.fullscreenElement && document.body.classList.contains("theatre")) theatre();
}
