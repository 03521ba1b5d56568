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

// The largest contents of a form are invisible on its table and reserve their space, so that the
// table keeps its size. Updates do not repeat them: they move from the old table to the new one.
function reserved(part) {
  const stacks = [...part.querySelectorAll(".stack")];
  return {
    form: part.querySelector(".felt")?.className,
    contents: stacks.map((stack) => [...stack.querySelectorAll(":scope > [data-large][hidden]")]),
  };
}

function reserve(part, { form, contents }) {
  const stacks = [...part.querySelectorAll(".stack")];
  if (part.querySelector(".felt")?.className !== form || stacks.length !== contents.length) return false;
  if (!contents.some((content) => content.length)) return false;
  stacks.forEach((stack, n) => stack.append(...contents[n]));
  return true;
}

// A table that appears, or one of another form, takes them from a new copy of the page. If the copy
// lacks them, it is not fetched again at each update: the table has the size of its position.
const fetched = new Set();

async function fetchReserved(id) {
  const table = `${id} ${document.getElementById(id).querySelector(".felt").className}`;
  if (fetched.has(table)) return;
  fetched.add(table);
  try {
    const text = await (await fetch(location.href)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(id);
    const part = document.getElementById(id);
    if (!fresh || !part || part.querySelector("[data-large][hidden]")) return;
    if (reserve(part, reserved(fresh))) fetched.delete(table);
  } catch {
    // Without a connection, nothing is reserved.
  }
}

function show(id, html) {
  const part = document.getElementById(id);
  if (!part) return;
  const kept = reserved(part);
  // Who reads a link with the keyboard keeps it.
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const before = rowPositions(part);
  part.innerHTML = html;
  if (id === "match-table" && part.querySelector(".felt") && !reserve(part, kept)) fetchReserved(id);
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
