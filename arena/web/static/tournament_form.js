// The form of a new tournament: its fields follow the chosen game and format, the bots are searched,
// and the estimate follows each change. Without it, buttons load the page again.
"use strict";

const PAUSE_MS = 700;
const choice = document.getElementById("choice");
let timer = 0, asked = 0;

async function pageOf(address, options) {
  const response = await fetch(address, { ...options, headers: { Accept: "text/html" } });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// The names of the bots and of their owners are the text of the rows.
function filterBots() {
  const words = document.getElementById("bots-filter").value.toLowerCase().split(/\s+/);
  for (const row of document.querySelectorAll(".choices li")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
}

// A page of an error has no estimate, but a sentence.
function showEstimate(section, sentence) {
  const shown = document.getElementById("estimate");
  if (section) shown.innerHTML = section.innerHTML;
  else if (sentence) shown.replaceChildren(sentence);
}

async function estimate() {
  const form = document.getElementById("create"), number = ++asked;
  const body = new URLSearchParams(new FormData(form));
  try {
    const page = await pageOf(form.action, { method: "POST", body });
    if (number === asked) showEstimate(page.getElementById("estimate"), page.querySelector("main p"));
  } catch {
    // Without a connection, the last estimate stays.
  }
}

function estimateSoon() {
  clearTimeout(timer);
  timer = setTimeout(estimate, PAUSE_MS);
}

// Ticks the first bots of the list, as many as the button says, and no others.
function tick(most) {
  [...document.querySelectorAll(".choices input")].forEach((box, at) => { box.checked = at < most; });
  estimateSoon();
}

function prepare() {
  document.querySelector("#create [data-filter]").hidden = false;
  document.getElementById("bots-filter").addEventListener("input", filterBots);
}

// The fields of another game or format; what both have keeps its value. A preset replaces them.
async function change(event) {
  const query = new URLSearchParams(new FormData(choice));
  const address = `${choice.action}?${query}`;
  try {
    const fresh = (await pageOf(address)).getElementById("create"), old = document.getElementById("create");
    if (!fresh) return;
    const kept = new FormData(old);
    const bots = new Set(kept.getAll("bots"));
    for (const input of fresh.elements) {
      if (!input.name || input.type === "hidden") continue;
      if (input.type === "checkbox") input.checked = bots.has(input.value) || (input.name !== "bots" && kept.has(input.name));
      else if (event.target.name !== "preset" && input.name !== "bots" && kept.has(input.name)) input.value = kept.get(input.name);
    }
    old.replaceWith(fresh);
    history.replaceState(null, "", address);
    prepare();
    if (bots.size > 1) estimateSoon();
  } catch {
    choice.submit();
  }
}

choice.querySelector("button").hidden = true;
choice.addEventListener("change", change);
document.addEventListener("input", (event) => {
  if (event.target.form?.id === "create" && event.target.id !== "bots-filter") estimateSoon();
});
document.addEventListener("click", (event) => {
  if (event.target.dataset.tick) tick(Number(event.target.dataset.tick));
});
// Enter in the search must not send the form.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.id === "bots-filter") event.preventDefault();
});
prepare();
