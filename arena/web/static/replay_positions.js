// The positions of a replay: which parts of the page are visible at which step. The page holds all of
// them; those that have not been visible yet are markup, not elements.
"use strict";

const replay = document.getElementById("replay");
let step = Number(replay.dataset.step);

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

// The step whose spans are visible.
let drawn = step;

// Shows the spans of the step, and hides the others.
function showSpans() {
  readPlaces();
  const changes = (span) => (step < span.from || step > span.to) !== span.hidden;
  const moves = Math.abs(step - drawn) === 1 && !reducedMotion.matches;
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
