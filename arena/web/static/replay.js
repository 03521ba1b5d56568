// Controls of a replay: steps, viewpoints, playback, keys and the list of actions. Without it the links
// and the form of the page do the same.
"use strict";

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

let eyes = replay.dataset.eyes;
let timer = 0;

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
function address(to, viewpoint) {
  return `?step=${to}&eyes=${viewpoint}`;
}

function updateAddress() {
  try {
    history.replaceState(null, "", address(step, eyes) + location.hash);
  } catch {
    // Some browsers forbid it for files; the page works all the same.
  }
}

function draw() {
  showSpans();
  showStep();
}

// Shows the step around the table.
function showStep() {
  plot();
  odds.forEach(showOdds);
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
  showAction();
  followBoard();
  updateAddress();
}

function plot() {
  for (const graph of graphs) {
    const ahead = graph.querySelector(".ahead");
    ahead.setAttribute("x", String(step));
    ahead.setAttribute("width", String(Math.max(last - step, 0)));
    graph.querySelector(".at").setAttribute("d", `M${step} 0V100`);
  }
}

// The win probabilities of each point of view.
const odds = Array.from(replay.querySelectorAll("[data-odds]"), (bar) => ({
  bar,
  rated: bar.dataset.odds.split(" ").map((entry) => {
    const [at, percents] = entry.split(":");
    return { at: Number(at), percents: percents.split(",").map(Number) };
  }),
}));

// Shows those at the last rated position until the shown one.
function showOdds({ bar, rated }) {
  const { at, percents } = rated.filter((position) => position.at <= step).pop() ?? rated[0];
  const parts = bar.querySelectorAll("rect");
  const texts = bar.querySelectorAll("b");
  let start = 0;
  percents.forEach((percent, n) => {
    parts[n].setAttribute("x", String(start));
    parts[n].setAttribute("width", String(percent));
    texts[n].textContent = `${Math.round(percent)} %`;
    start += percent;
  });
  bar.querySelector(".at").textContent = String(at);
}

function pickPosition(event) {
  const box = event.currentTarget.getBoundingClientRect();
  if (timer) stop();
  go(Math.round(last * (event.clientX - box.left) / box.width));
}

let current = moves.querySelector(".here") ?? items.get(step);

// What led to the position, said once more below the table and by a screen reader.
function showAction() {
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

function changeViewpoint(viewpoint) {
  if (!document.querySelector(`.eyes [data-eyes="${viewpoint}"]`)) return;
  eyes = viewpoint;
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
  timer = setTimeout(playOn, stepMilliseconds());
  return undefined;
}

// Scrolls to the controls if the table does not end in the window; not in a frame, whose page
// would scroll too.
function showWhole() {
  if (window !== top) return;
  const bottom = document.getElementById("fitted").getBoundingClientRect().bottom;
  if (bottom > innerHeight) replay.querySelector(".control-panel").scrollIntoView();
}

function stepMilliseconds() {
  return Number(speed.querySelector("select").value);
}

// Stays longer at what spectators look for: a deal, a run, a fault, points.
function playOn() {
  if (step < last) go(step + 1);
  if (step === last) return stop();
  const importance = events.includes(step) ? 2.5 : scorings.has(step) ? 2 : 1;
  timer = setTimeout(playOn, stepMilliseconds() * importance);
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
  if (digit >= 0) changeViewpoint(digit ? String(digit - 1) : "all");
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
  if (link.dataset.eyes) return changeViewpoint(link.dataset.eyes);
  if (timer) stop();
  return go(Number(new URLSearchParams(link.getAttribute("href").slice(1)).get("step")));
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

// Whether the page shows another position than its address names, as a file or a static site does.
function isElsewhere() {
  return step !== Number(replay.dataset.step) || eyes !== replay.dataset.eyes;
}

async function begin() {
  const query = new URLSearchParams(location.search);
  if (/^\d+$/.test(query.get("step") ?? "")) step = Math.min(Number(query.get("step")), last);
  const viewpoint = query.get("eyes");
  if (viewpoint && document.querySelector(`.eyes [data-eyes="${CSS.escape(viewpoint)}"]`)) eyes = viewpoint;
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
  addEventListener("resize", () => fit());
  for (const graph of graphs) graph.addEventListener("click", pickPosition);
  felt.append(movingCopies);
  beginBoard();
  await endTask();
  if (isElsewhere()) draw();
  else showStep();
  await endTask();
  while (unread.length) {
    readPlace(unread.pop());
    await endLongTask();
  }
  replay.dataset.ready = "";
  if (query.get("autoplay") === "1" && !reducedMotion.matches) play();
}

begin();
