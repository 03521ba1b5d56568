// A table of a person: choices without a new page, a filter while typing, live updates, the clock.
// Without it the form, the links and a reload do the same.
"use strict";

const table = document.getElementById("play-table");
const parts = ["play-turn", "play-board"].map((id) => document.getElementById(id));
const announced = document.getElementById("play-said");
// What a part shows, without what has been typed since: repeated updates leave it alone.
const shown = new Map(parts.map((part) => [part.id, comparable(part)]));
// The newest state of each part. Answers and events arrive in any order; older ones are ignored.
const newest = new Map(parts.map((part) => [part.id, serial(part)]));
const SILENT_SECONDS = 20;

// A copy, because the content policy forbids to parse the styles that fit the table to the window.
function comparable(part) {
  const copy = part.cloneNode(true);
  for (const fitted of copy.querySelectorAll("[style]")) fitted.removeAttribute("style");
  for (const clock of copy.querySelectorAll("[data-until]")) clock.textContent = "";
  copy.querySelector("data").remove();
  return copy.innerHTML.trim();
}

function serial(part) {
  return Number(part.querySelector("data").value);
}

function update(id, received) {
  const part = document.getElementById(id);
  if (serial(received) < newest.get(id)) return;
  newest.set(id, serial(received));
  const fresh = comparable(received);
  if (shown.get(id) === fresh) return;
  shown.set(id, fresh);
  const typed = document.activeElement?.id === "play-text";
  const held = part.contains(document.activeElement);
  const isLeaving = part.querySelector(".leave")?.open;
  part.innerHTML = received.innerHTML;
  if (isLeaving) part.querySelector(".leave")?.setAttribute("open", "");
  part.scrollTop = 0;
  showSelection();
  showLatestPiece();
  if (id !== "play-turn") return;
  const heading = document.getElementById("turn");
  announced.textContent = (part.querySelector("[data-hint]") ?? heading).textContent;
  if (typed) (document.getElementById("play-text") ?? heading).focus({ preventScroll: true });
  else if (held) heading.focus({ preventScroll: true });
  // The match is over: its result may be above the button that ended it.
  if (part.querySelector("[data-over]")) heading.scrollIntoView({ block: "nearest" });
}

function updateFrom(page) {
  for (const part of parts) update(part.id, page.getElementById(part.id));
}

async function read(address, options) {
  const response = await fetch(address, options);
  if (!response.ok) throw new Error(await refusalOf(response));
  return parsed(await response.text());
}

// Scripts get errors as JSON, with a sentence; a proxy may answer with something else.
async function refusalOf(response) {
  try {
    return (await response.json()).error;
  } catch {
    return `the arena cannot answer now (status ${response.status}); retry in a minute.`;
  }
}

// Shows why a form was refused, until a form is sent again or the turn changes.
function showRefusal(form, sentence) {
  const shown = document.createElement("p");
  shown.className = "refused";
  shown.setAttribute("role", "alert");
  shown.textContent = `Not possible: ${sentence}`;
  form.before(shown);
  shown.scrollIntoView({ block: "nearest" });
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

table.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post" || form.matches(".again")) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  for (const control of form.elements) if (control.matches("button")) control.disabled = true;
  for (const shown of table.querySelectorAll(".refused")) shown.remove();
  try {
    // Not form.action: that is the button of this name.
    updateFrom(await read(form.getAttribute("action"), { method: "POST", body }));
  } catch (error) {
    const isLost = error instanceof TypeError;
    showRefusal(form, isLost ? "the arena did not answer; try again." : error.message);
  }
  for (const button of table.querySelectorAll("button:disabled")) button.disabled = false;
  showSelection();
});

// Keeps the explanation and the button in view, also in the part of a phone's window that scrolls.
table.addEventListener("click", ({ target }) => {
  const form = target.closest(".sure > summary")?.parentElement.lastElementChild;
  if (form) requestAnimationFrame(() => form.scrollIntoView({ block: "nearest" }));
});

let waiting = 0;

// Only the list changes while a person types; the next update of the part shows the whole list.
async function filter(words) {
  const question = table.querySelector("[name=question]")?.value;
  try {
    const page = await read(`?find=${encodeURIComponent(words)}`);
    const list = page.getElementById("choices");
    const is_same = page.querySelector("[name=question]")?.value === question;
    if (list && is_same && document.getElementById("play-text")?.value === words) {
      document.getElementById("choices").replaceWith(document.adoptNode(list));
    }
  } catch {
    // The next letter, or the button, tries again.
  }
}

table.addEventListener("input", (event) => {
  if (event.target.id !== "play-text") return;
  const words = event.target.value;
  clearTimeout(waiting);
  waiting = setTimeout(() => filter(/^\d+$/.test(words) ? "" : words), 120);
});

setInterval(() => {
  for (const clock of document.querySelectorAll("[data-until]")) {
    const left = Math.max(Math.ceil(Number(clock.dataset.until) - Date.now() / 1000), 0);
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }
}, 500);

followParts(table.dataset.live, ({ parts: fresh }) => {
  for (const [id, html] of Object.entries(fresh)) update(id, parsed(html).body);
}, { silentSeconds: SILENT_SECONDS });

// After the parts were copied above, because it changes them.
showSelection();
showLatestPiece();
