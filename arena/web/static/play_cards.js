// Select an action on the table: cards, dominoes and squares are the controls of the form.
// The form lists for every action the elements that select it; this script knows no game.
"use strict";

// Squares have 40 units, of which 36 can be touched: at least 24 pixels.
const SMALLEST_SCALE = 0.67;
// A square and the edges of a layout, in its units (table/board.html).
const SQUARE = 40;
const EDGE_TOP = 28;
const EDGE_LEFT = 34;
const SUITS = { S: "♠", H: "♥", D: "♦", C: "♣" };
// Stands for the next element in a pattern.
const PICK = "\u2400";
// What is selected, in order: the name of an element, which of its copies, and its role.
let picked = [];
// The actions of the open question, and which of the fitting ones is proposed.
let actions = [];
// The elements with which a selection begins.
let firsts = new Set();
let proposed = 0;
let isCycling = false;
let asked = "";

function readActions(form) {
  const question = form?.elements.question.value ?? "";
  if (question === asked) return;
  asked = question;
  picked = [];
  proposed = 0;
  isCycling = false;
  setActions(actionsOf(form));
}

function setActions(offered) {
  actions = offered;
  firsts = new Set(actions.map(({ names }) => elementOf(names[0] ?? "")));
}

// The listed actions of a form by their numbers, then others by their words.
function actionsOf(form) {
  const patterns = (form?.dataset.patterns ?? "").split("\n").map((line) => line.split("\t"));
  const listed = Number(form?.dataset.listed ?? Infinity);
  return (form?.dataset.controls ?? "").split("\n").filter(Boolean).map((line, n) => {
    const [pattern, ...names] = line.split(" ");
    const [kind, words] = patterns[pattern];
    let used = 0;
    const worded = words.replaceAll(PICK, () => elementOf(names[used++]));
    const number = n < listed ? n + 1 : worded;
    return { number, isOrdered: kind[0] === "o", enough: Number(kind.slice(1)), names, words: worded };
  });
}

// Adds actions that begin with the selection, if the page does not list all.
async function readMore(form) {
  const picks = picked.map(({ element }) => element).join(" ");
  if (!form?.dataset.listed || picked.length < 2 || !fitting(picked).some(({ isOrdered }) => isOrdered)) return;
  try {
    const page = await read(`?picks=${encodeURIComponent(picks)}`);
    const fresh = page.getElementById("choose");
    if (fresh?.elements.question.value !== asked) return;
    const known = new Set(actions.map(({ words }) => words));
    setActions([...actions, ...actionsOf(fresh).filter(({ words }) => !known.has(words))]);
    showSelection();
  } catch {
    // The next click tries again.
  }
}

function elementOf(name) {
  return name.slice(name.indexOf(":") + 1);
}

// Cards as people read them: "10♠" for "TS".
function readable(words) {
  return words.replace(/\b([2-9TJQKA])([SHDC])\b/g, (_, rank, suit) => (rank === "T" ? "10" : rank) + SUITS[suit]);
}

function nameOf(pick) {
  return pick.role ? `${pick.role}:${pick.element}` : pick.element;
}

function fits(action, picks) {
  const names = picks.map(nameOf);
  if (action.isOrdered) return names.every((name, n) => name === action.names[n]);
  const left = [...action.names];
  return names.every((name) => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function fitting(picks) {
  return actions.filter((action) => action.names.length > 0 && fits(action, picks));
}

function rolesOf(element) {
  const roles = new Set();
  for (const { names } of actions) {
    for (const name of names) {
      if (name === element) roles.add("");
      else if (name.endsWith(`:${element}`)) roles.add(name.slice(0, -element.length - 1));
    }
  }
  return [...roles].sort();
}

// The element in the first role that fits with others, or undefined.
function joined(others, pick, roles = rolesOf(pick.element)) {
  const role = roles.find((each) => fitting([...others, { ...pick, role: each }]).length > 0);
  return role === undefined ? undefined : { ...pick, role };
}

// The selection after a click: one more element, its next role, or without it. An element that does
// not fit replaces the oldest ones.
function clicked(pick) {
  const at = picked.findIndex(({ element, copy }) => element === pick.element && copy === pick.copy);
  if (at >= 0) {
    const others = picked.toSpliced(at, 1);
    const roles = rolesOf(pick.element);
    const next = joined(others, pick, roles.slice(roles.indexOf(picked[at].role) + 1));
    if (next) return [...others, next];
    return fitting(others).length > 0 ? others : picked.slice(0, at);
  }
  for (let first = 0; first <= picked.length; first += 1) {
    const kept = picked.slice(first);
    const added = joined(kept, pick);
    if (added) return [...kept, added];
  }
  return picked;
}

// The actions among which the button chooses; without a selection, that of the hint.
function candidates() {
  if (picked.length === 0) return hinted();
  const all = fitting(picked);
  const exact = all.filter((action) => action.names.length === picked.length);
  if (exact.length > 0) return exact;
  return isCycling ? all : all.filter((action) => picked.length >= action.enough);
}

// A hint need not be listed; then its words choose it.
function hinted() {
  const { hint, picks } = document.querySelector("[data-hint]")?.dataset ?? {};
  if (!picks) return [];
  const listed = actions.find(({ words }) => words === hint);
  return [listed ?? { number: hint, names: picks.split(" "), words: hint }];
}

function controls() {
  const copies = new Map();
  return [...document.querySelectorAll("#play-board [data-pick]")].map((node) => {
    const element = node.dataset.pick;
    const copy = copies.get(element) ?? 0;
    copies.set(element, copy + 1);
    return { node, pick: { element, copy, role: "" } };
  });
}

function showControl({ node, pick }, proposal) {
  const mine = picked.find(({ element, copy }) => element === pick.element && copy === pick.copy);
  const names = proposal?.names.map(elementOf) ?? [];
  node.classList.toggle("chosen", mine !== undefined);
  // Squares are framed when it is known what may be laid on them.
  const isOpen = picked.length > 0 || !node.closest("svg") || firsts.has(pick.element);
  const isReady = isOpen && mine === undefined && joined(picked, pick) !== undefined;
  node.classList.toggle("ready", isReady);
  // It would replace what is selected.
  node.classList.toggle("other", !isReady && mine === undefined && firsts.has(pick.element));
  node.classList.toggle("proposed", mine === undefined && names.includes(pick.element));
  const name = proposal?.names.find((each) => elementOf(each) === pick.element) ?? "";
  let role = mine?.role || name.slice(0, -pick.element.length - 1);
  // A card that has one use, and not the usual one, names it before it is selected.
  if (!role && node.matches(".card.ready")) {
    const roles = rolesOf(pick.element);
    role = roles.length === 1 ? roles[0] : "";
  }
  node.toggleAttribute("data-role", role !== "");
  if (role) node.dataset.role = role;
  if (node.closest("svg")) return showOnSquare(node, role);
  node.tabIndex = 0;
  node.setAttribute("role", "button");
  node.setAttribute("aria-pressed", String(mine !== undefined));
}

// A square shows what the action lays on it.
function showOnSquare(square, role) {
  let text = square.nextElementSibling;
  if (!text?.matches(".role")) {
    if (!role) return;
    const { x, y, width, height } = square.getBBox();
    text = document.createElementNS(square.namespaceURI, "text");
    text.classList.add("role");
    text.setAttribute("x", x + width / 2);
    text.setAttribute("y", y + 0.7 * height);
    square.after(text);
  }
  text.textContent = role;
}

function wordsOf(action) {
  const listed = document.querySelector(`.choices button[value="${CSS.escape(action.number)}"]`);
  const copy = document.createElement("span");
  if (listed) copy.append(...[...listed.cloneNode(true).childNodes].filter((n) => n.nodeName !== "SMALL"));
  else copy.textContent = readable(action.words);
  // The table shows the squares.
  for (const text of copy.childNodes) text.textContent = text.textContent.replace(/ ?-?\d+,-?\d+/g, "");
  return copy;
}

function promptOf(form, proposal, number) {
  const ready = document.querySelector("#play-board [data-pick].ready");
  const hand = [...document.querySelectorAll("#play-board .under .hand .open .card")];
  const isPartial = hand.some(({ dataset }) => dataset.pick) && !hand.every(({ dataset }) => dataset.pick);
  if (picked.length === 0) {
    const why = isPartial && !document.querySelector("#play-turn .why") ? " The others cannot be played now." : "";
    return form.querySelector("[data-prompt]").dataset.prompt + why;
  }
  const ways = proposal && number > 1 ? " “Other way” shows the next one on the table." : "";
  if (!ready) {
    const other = proposal && document.querySelector("#play-board :is(.card, .dom).other");
    return (other ? "Press the button, or click another framed card." : "") + ways;
  }
  const frame = ready.closest(".layout");
  const view = frame?.getBoundingClientRect();
  const isHidden = frame && [...frame.querySelectorAll(".ready")].some((square) => {
    const { left, right, top, bottom } = square.getBoundingClientRect();
    return bottom > view.bottom + 1 || top < view.top - 1 || left < view.left - 1 || right > view.right + 1;
  });
  const more = isHidden ? " Scroll the table for more of them." : "";
  const what = frame ? "square" : "card";
  const verbs = new Set(fitting(picked).map(({ words }) => words.split(" ")[0]));
  const next = verbs.size === 1 ? `For “${[...verbs][0]}”, click a framed ${what} now.` : `Now click a framed ${what}.`;
  return (proposal ? `Press the button, or click another framed ${what}.` : next) + more + ways;
}

function showButtons(form, proposal, number) {
  const row = form.querySelector(".confirm");
  const confirm = row.querySelector(":scope > .primary");
  const other = row.querySelector("[data-other]");
  row.hidden = false;
  confirm.disabled = proposal === undefined;
  confirm.dataset.action = proposal?.number ?? "";
  confirm.replaceChildren("Play", ...(proposal ? [": ", wordsOf(proposal)] : []));
  const isPlain = fitting([]).length === 0;
  confirm.hidden = isPlain;
  form.querySelector(".prompt").textContent = isPlain ? "" : promptOf(form, proposal, number);
  form.classList.toggle("only-plain", actions.length > 0 && isPlain);
  const ways = fitting(picked).length;
  other.firstElementChild.textContent = proposal ? `Other way (${(proposed % number) + 1} of ${number})` : `Fill in the rest${ways > 1 ? ` (${ways} ways)` : ""}`;
  other.hidden = proposal ? number < 2 : picked.length === 0 || ways > 60;
  const plain = row.querySelector(".plain");
  if (plain.childElementCount > 0) return;
  for (const action of actions.filter(({ names }) => names.length === 0)) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.action = action.number;
    button.append(wordsOf(action));
    plain.append(button);
  }
}

// What is between the title and the hand is scrolled if it does not fit. So is a layout of squares
// in its frame if it does not fit with squares that can be touched.
function showLatestPiece() {
  const far = document.querySelector("#play-board .far");
  const latest = far?.querySelector(".middle :is(.current, .fresh, [data-pick]:not(.square))");
  if (latest) {
    const { top, height } = latest.getBoundingClientRect();
    far.scrollTop += top + height / 2 - far.getBoundingClientRect().top - far.clientHeight / 2;
  }
  for (const svg of document.querySelectorAll("#play-board .layout svg")) {
    const { width, height } = svg.viewBox.baseVal;
    svg.style.minWidth = `${width * SMALLEST_SCALE}px`;
    svg.style.minHeight = `${height * SMALLEST_SCALE}px`;
    const frame = svg.parentElement;
    frame.tabIndex = 0;
    const piece = (svg.querySelector(".new") ?? svg).getBoundingClientRect();
    const view = frame.getBoundingClientRect();
    frame.scrollLeft += piece.left + piece.width / 2 - view.left - view.width / 2;
    frame.scrollTop += piece.top + piece.height / 2 - view.top - view.height / 2;
    // No row or column of squares is cut at the top or the left, where the numbers of the edges are.
    const scale = svg.getBoundingClientRect().height / height;
    frame.scrollTop = wholeSquares(frame.scrollTop, EDGE_TOP, scale);
    frame.scrollLeft = wholeSquares(frame.scrollLeft, EDGE_LEFT, scale);
  }
  holdEdges();
}

// The numbers of columns and rows stay in view while a layout of squares is scrolled.
function holdEdges() {
  for (const svg of document.querySelectorAll("#play-board .layout svg")) {
    const { left, top } = svg.parentElement.getBoundingClientRect();
    const far = svg.closest(".far")?.getBoundingClientRect();
    const matrix = svg.getScreenCTM();
    if (!matrix) continue;
    const { a: scale, e, f } = matrix;
    const { x, y } = svg.viewBox.baseVal;
    const [columns, rows] = svg.querySelectorAll(".edge");
    columns.setAttribute("transform", `translate(0 ${Math.max((Math.max(top, far?.top ?? top) - f) / scale - y, 0)})`);
    rows.setAttribute("transform", `translate(${Math.max((left - e) / scale - x, 0)} 0)`);
  }
}

function wholeSquares(scrolled, edge, scale) {
  const square = SQUARE * scale;
  return scrolled < edge * scale ? scrolled : Math.round((scrolled - edge * scale) / square) * square + edge * scale;
}

function showSelection() {
  const form = document.getElementById("choose");
  readActions(form);
  const fit = candidates();
  const proposal = fit[proposed % Math.max(fit.length, 1)];
  for (const control of controls()) showControl(control, proposal);
  document.getElementById("play-board").classList.toggle("selecting", picked.length > 0);
  if (form) showButtons(form, proposal, fit.length);
  return proposal;
}

function changeSelection(picks) {
  picked = picks;
  proposed = 0;
  isCycling = false;
  announce(showSelection());
  readMore(document.getElementById("choose"));
}

function otherWay() {
  proposed = candidates().length > 0 ? proposed + 1 : 0;
  isCycling ||= candidates().length === 0;
  announce(showSelection());
}

function announce(proposal) {
  document.getElementById("play-turn").scrollTop = 0;
  const names = picked.map(({ element, role }) => readable(role ? `${role} ${element}` : element));
  const selected = names.length > 0 ? `selected: ${names.join(", ")}` : "nothing selected";
  document.getElementById("play-said").textContent =
    proposal ? `${selected}; the button plays: ${readable(proposal.words)}` : selected;
}

function clickOn(target) {
  const node = target.closest?.("[data-pick]");
  const control = node && controls().find((each) => each.node === node);
  if (control) changeSelection(clicked(control.pick));
  return Boolean(control);
}

// These buttons are not submit buttons: Enter in the text field chooses the first of those.
function submitAction(form, number) {
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = "action";
  field.value = number;
  form.append(field);
  form.requestSubmit();
  field.remove();
}

// Shows on the table what the action of a button in the list is.
function preview({ target }) {
  const chosen = target.closest?.(".choices button")?.value;
  const names = actions.find(({ number }) => String(number) === chosen)?.names.map(elementOf) ?? [];
  for (const { node } of controls()) node.classList.toggle("previewed", names.includes(node.dataset.pick));
}

for (const kind of ["mouseover", "focusin"]) document.getElementById("play-turn").addEventListener(kind, preview);
document.getElementById("play-board").addEventListener("scroll", holdEdges, { capture: true, passive: true });
document.getElementById("play-board").addEventListener("click", ({ target }) => clickOn(target));
document.getElementById("play-turn").addEventListener("click", ({ target }) => {
  if (target.closest("[data-other]")) otherWay();
  const button = target.closest("[data-action]");
  if (button) submitAction(button.form, button.dataset.action);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
  if (event.key === "r" || event.key === "R") otherWay();
  else if (event.key === "Escape") changeSelection([]);
  else if ((event.key === "Enter" || event.key === " ") && clickOn(event.target)) event.preventDefault();
});
