// Steps through a game that the page holds whole. Without it the links and the form do the same.
"use strict";

const replay = document.getElementById("replay");
const last = Number(replay.dataset.last);
const events = replay.dataset.events.split(" ").filter(Boolean).map(Number);
const scorings = new Set(replay.dataset.scorings.split(" ").filter(Boolean).map(Number));
const slider = document.getElementById("step");
const now = document.getElementById("now");
const moves = document.getElementById("moves");
const dialog = document.getElementById("keys");
const playButton = document.getElementById("play");
const speed = document.getElementById("speed");
const graphs = replay.querySelectorAll(".plot svg");

let step = Number(replay.dataset.step);
let eyes = replay.dataset.eyes;
let timer = 0;
const SMALLEST = 0.4;
// The scale of the table.
let scale = 1;

// The parts of the page that are visible from one step to another, both included. A part that
// has not been visible yet has no element, but its markup and its place.
const spans = [];
// The places whose other parts have not been read yet.
const unread = [];

function collect(root) {
  for (const element of root.querySelectorAll("[data-a]")) {
    const from = Number(element.dataset.a);
    spans.push({ element, from, to: Number(element.dataset.b), hidden: element.hasAttribute("hidden") });
  }
  unread.push(...root.querySelectorAll("[data-later]"));
}

function readPlace(place) {
  for (const line of place.dataset.later.split("\n")) {
    const [, from, to, markup] = /^(\d+) (\d+) (.*)$/s.exec(line);
    spans.push({ element: null, from: Number(from), to: Number(to), hidden: true, place, markup });
  }
  place.removeAttribute("data-later");
}

function readPlaces() {
  while (unread.length) readPlace(unread.pop());
}

// Long tasks end after this time. On a slow phone the rest of one can take four times as long as
// on a computer, and 50 ms without a response are noticed.
const TASK_MS = 6;
let taskBegan = performance.now();

const { port1: taskEnd, port2: taskStart } = new MessageChannel();

// Ends the task, so that the browser can respond in between. A timer would wait for 4 ms, and
// Lighthouse does not see what continues after `scheduler.yield`.
async function endTask() {
  await new Promise((resume) => {
    taskStart.onmessage = resume;
    taskEnd.postMessage(null);
  });
  taskBegan = performance.now();
}

async function endLongTask() {
  if (performance.now() - taskBegan > TASK_MS) await endTask();
}

function create(span) {
  const shell = document.createElement("template");
  const isDrawing = span.place instanceof SVGElement;
  shell.innerHTML = isDrawing ? `<svg>${span.markup}` : span.markup;
  const created = shell.content.firstElementChild;
  span.element = isDrawing ? created.firstElementChild : created;
  span.element.dataset.a = String(span.from);
  collect(span.element);
  readPlaces();
  const next = Array.from(span.place.children).find((other) => Number(other.dataset.a) > span.from);
  span.place.insertBefore(span.element, next ?? null);
}

collect(replay);
const items = new Map(
  Array.from(moves.querySelectorAll("[data-step]"), (item) => [Number(item.dataset.step), item]),
);

function targets() {
  return {
    "go-start": 0,
    "go-event-back": events.filter((at) => at < step).pop() ?? 0,
    "go-back": Math.max(step - 1, 0),
    "go-on": Math.min(step + 1, last),
    "go-event-on": events.find((at) => at > step) ?? last,
    "go-end": last,
  };
}

// The address of what is shown, so that it can be sent to somebody.
function address(to, by) {
  return `?step=${to}&eyes=${by}`;
}

function note() {
  try {
    history.replaceState(null, "", address(step, eyes) + location.hash);
  } catch {
    // Some browsers forbid it for files; the page works all the same.
  }
}

// Moves cards between two neighbouring steps. A card is identified by its rank and suit.

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const flight = document.createElement("div");
flight.className = "flight";
flight.setAttribute("aria-hidden", "true");
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
  flight.replaceChildren();
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
  flight.append(copy);
  return copy;
}

function moveCards(before, entered) {
  const felt = flight.parentElement.getBoundingClientRect();
  const duration = timer ? Math.min(380, tempo() * 0.7) : 380;
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

let drawn = step;

// Shows the spans of the step, and hides the others.
function turn() {
  readPlaces();
  const changes = (span) => (step < span.from || step > span.to) !== span.hidden;
  const moves = Math.abs(step - drawn) === 1 && !calm.matches;
  settle();
  const before = moves ? cardsIn(spans.filter((span) => !span.hidden && changes(span))) : [];
  const entered = [];
  // A part that is created appends the parts within it to the list.
  for (const span of spans) {
    if (!changes(span)) continue;
    span.hidden = !span.hidden;
    if (!span.element) create(span);
    // By the attribute: elements of SVG have no property `hidden`.
    span.element.toggleAttribute("hidden", span.hidden);
    if (!span.hidden) entered.push(span);
  }
  if (moves) moveCards(before, entered);
  drawn = step;
}

function draw() {
  turn();
  showStep();
}

// Shows the step around the table.
function showStep() {
  plot();
  slider.value = String(step);
  slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
  replay.dataset.step = String(step);
  replay.dataset.eyes = eyes;
  for (const [id, to] of Object.entries(targets())) {
    const link = document.getElementById(id);
    link.href = address(to, eyes);
    link.toggleAttribute("data-idle", to === step);
  }
  for (const link of document.querySelectorAll(".eyes [data-eyes]")) {
    link.href = address(step, link.dataset.eyes);
    if (link.dataset.eyes === eyes) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  tell();
  note();
}

function plot() {
  for (const graph of graphs) {
    const ahead = graph.querySelector(".ahead");
    ahead.setAttribute("x", String(step));
    ahead.setAttribute("width", String(Math.max(last - step, 0)));
    graph.querySelector(".at").setAttribute("d", `M${step} 0V100`);
  }
}

function pickPosition(event) {
  const box = event.currentTarget.getBoundingClientRect();
  if (timer) stop();
  go(Math.round(last * (event.clientX - box.left) / box.width));
}

let current = moves.querySelector(".here") ?? items.get(step);

// What led to the position, said once more below the table and by a screen reader.
function tell() {
  const item = items.get(step);
  current.classList.remove("here");
  current.querySelector("a").removeAttribute("aria-current");
  item.classList.add("here");
  item.querySelector("a").setAttribute("aria-current", "step");
  current = item;
  const at = document.createElement("span");
  at.className = "at";
  at.textContent = `${step} of ${last}`;
  const happened = Array.from(item.lastElementChild.childNodes, (node) => node.cloneNode(true));
  now.replaceChildren(at, ...happened);
  scrollList();
}

// Within the list only: the page stays where its reader has it. Items get their height when they
// are first visible, so the place is checked again.
function scrollList(checks = 2) {
  const top = current.offsetTop;
  if (top >= moves.scrollTop && top + current.offsetHeight <= moves.scrollTop + moves.clientHeight) return;
  moves.scrollTop = top - moves.clientHeight / 2;
  if (checks) requestAnimationFrame(() => scrollList(checks - 1));
}

function go(to) {
  step = Math.min(Math.max(to, 0), last);
  draw();
}

function look(by) {
  if (!document.querySelector(`.eyes [data-eyes="${by}"]`)) return;
  eyes = by;
  draw();
  // Cards face down are narrower than cards face up.
  fit();
}

function stop() {
  clearTimeout(timer);
  timer = 0;
  now.setAttribute("aria-live", "polite");
  label("play");
}

function label(word) {
  playButton.setAttribute("aria-label", word);
  playButton.title = `${word} (space)`;
  playButton.querySelector("use").setAttribute("href", `#i-${word}`);
}

function play() {
  if (timer) return stop();
  if (step === last) go(0);
  // A reader that is interrupted every second says nothing.
  now.setAttribute("aria-live", "off");
  label("pause");
  showWhole();
  timer = setTimeout(playOn, tempo());
  return undefined;
}

// Scrolls to the controls if the table does not end in the window; not in a frame, whose page
// would scroll too.
function showWhole() {
  if (window !== top) return;
  const bottom = document.getElementById("fitted").getBoundingClientRect().bottom;
  if (bottom > innerHeight) replay.querySelector(".control-panel").scrollIntoView();
}

function tempo() {
  return Number(speed.querySelector("select").value);
}

// Stays longer at what spectators look for: a deal, a run, a fault, points.
function playOn() {
  if (step < last) go(step + 1);
  if (step === last) return stop();
  const importance = events.includes(step) ? 2.5 : scorings.has(step) ? 2 : 1;
  timer = setTimeout(playOn, tempo() * importance);
  return undefined;
}

// Keys can be switched off: some speak to their browsers, and every letter would be a key.
function keysAreOn() {
  try {
    return localStorage.getItem("replay-keys") !== "off";
  } catch {
    return true;
  }
}

// The table is scaled so that it is seen whole below the controls; its zones have a fixed size.

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

// Zooms and moves the board of Pokino by its view box; the whole board is `whole`.

const board = replay.querySelector(".layout svg");
const whole = board?.getAttribute("viewBox").split(" ").map(Number);
const CLOSEST = 6;
let grip = null;

function showBoard(left, top, width) {
  const [wholeLeft, wholeTop, wholeWidth, wholeHeight] = whole;
  const size = Math.min(Math.max(width, wholeWidth / CLOSEST), wholeWidth);
  const height = size * wholeHeight / wholeWidth;
  const x = Math.min(Math.max(left, wholeLeft), wholeLeft + wholeWidth - size);
  const y = Math.min(Math.max(top, wholeTop), wholeTop + wholeHeight - height);
  board.setAttribute("viewBox", `${x} ${y} ${size} ${height}`);
  board.classList.toggle("zoomed", size < wholeWidth);
}

// Keeps the place at which `share` of the width and of the height lies.
function zoomBoard(factor, shareX = 0.5, shareY = 0.5) {
  if (!board) return;
  const { x, y, width, height } = board.viewBox.baseVal;
  const size = Math.min(Math.max(width * factor, whole[2] / CLOSEST), whole[2]);
  showBoard(x + (width - size) * shareX, y + (height - size * height / width) * shareY, size);
}

function wheelBoard(event) {
  // Without a control key the wheel scrolls the page; a pinch has one.
  if (!event.ctrlKey) return;
  event.preventDefault();
  const box = board.getBoundingClientRect();
  const shareX = (event.clientX - box.left) / box.width;
  const shareY = (event.clientY - box.top) / box.height;
  zoomBoard(event.deltaY > 0 ? 1.2 : 1 / 1.2, shareX, shareY);
}

function gripBoard(event) {
  if (!board.classList.contains("zoomed")) return;
  board.setPointerCapture(event.pointerId);
  grip = { x: event.clientX, y: event.clientY };
}

function dragBoard(event) {
  if (!grip) return;
  const { x, y, width } = board.viewBox.baseVal;
  const scale = board.getScreenCTM().a;
  showBoard(x - (event.clientX - grip.x) / scale, y - (event.clientY - grip.y) / scale, width);
  grip = { x: event.clientX, y: event.clientY };
}

function beginBoard() {
  if (!board) return;
  board.addEventListener("wheel", wheelBoard, { passive: false });
  board.addEventListener("pointerdown", gripBoard);
  board.addEventListener("pointermove", dragBoard);
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { grip = null; });
  board.addEventListener("dblclick", () => showBoard(...whole));
}

const KEYS = {
  "+": () => zoomBoard(1 / 1.25), "-": () => zoomBoard(1.25),
  f: theatre,
  " ": play, k: play,
  ArrowLeft: () => go(step - 1), j: () => go(step - 1),
  ArrowRight: () => go(step + 1), l: () => go(step + 1),
  q: () => go(targets()["go-event-back"]), e: () => go(targets()["go-event-on"]),
  r: () => go(0), t: () => go(last),
  Home: () => go(0), End: () => go(last),
  "?": () => dialog.showModal(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || !keysAreOn()) return;
  if (event.target.closest("input, select, textarea")) return;
  // A button or a link that has the focus is pressed by the space key as everywhere.
  if (event.key === " " && event.target.closest("button, a, summary")) return;
  const scrolls = event.target.closest(".layout, .trick-table, .score-table");
  if (scrolls && event.key.startsWith("Arrow") && scrolls.scrollWidth > scrolls.clientWidth) return;
  const digit = /^[0-9]$/.test(event.key) ? Number(event.key) : -1;
  if (digit >= 0) look(digit ? String(digit - 1) : "all");
  else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
  else return;
  showWhole();
  if (digit < 0 && event.key !== " " && event.key !== "k" && timer) stop();
  event.preventDefault();
}

function clicked(event) {
  const link = event.target.closest("a[href^='?']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.eyes) return look(link.dataset.eyes);
  if (timer) stop();
  return go(Number(new URLSearchParams(link.getAttribute("href").slice(1)).get("step")));
}

// Whether the page shows another position than its address names, as a file or a static site does.
function isElsewhere() {
  return step !== Number(replay.dataset.step) || eyes !== replay.dataset.eyes;
}

async function begin() {
  const asked = new URLSearchParams(location.search);
  if (/^\d+$/.test(asked.get("step") ?? "")) step = Math.min(Number(asked.get("step")), last);
  const by = asked.get("eyes");
  if (by && document.querySelector(`.eyes [data-eyes="${CSS.escape(by)}"]`)) eyes = by;
  for (const element of [playButton, speed, document.getElementById("help")]) element.hidden = false;
  document.getElementById("jump").hidden = true;
  document.addEventListener("keydown", pressed);
  for (const part of [replay, document.getElementById("swings")]) {
    part?.addEventListener("click", clicked);
  }
  playButton.addEventListener("click", play);
  slider.addEventListener("input", () => { if (timer) stop(); go(Number(slider.value)); });
  slider.form.addEventListener("submit", (event) => event.preventDefault());
  speed.addEventListener("change", () => { if (timer) { stop(); play(); } });
  document.getElementById("help").addEventListener("click", () => dialog.showModal());
  const on = document.getElementById("keys-on");
  on.checked = keysAreOn();
  on.addEventListener("change", () => {
    try {
      localStorage.setItem("replay-keys", on.checked ? "on" : "off");
    } catch {
      // Where nothing is kept, it holds until the page is left.
    }
  });
  const embed = document.getElementById("embed");
  // Elsewhere the address needs its host, which the server does not know for sure.
  if (embed) embed.textContent = embed.textContent.replace('src="/', `src="${location.origin}/`);
  document.addEventListener("fullscreenchange", leave);
  addEventListener("resize", fit);
  for (const graph of graphs) graph.addEventListener("click", pickPosition);
  felt.append(flight);
  beginBoard();
  await endTask();
  if (isElsewhere()) draw();
  else showStep();
  await endTask();
  await fitInTasks();
  while (unread.length) {
    readPlace(unread.pop());
    await endLongTask();
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (asked.get("autoplay") === "1" && !still) play();
}

begin();
