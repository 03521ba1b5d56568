// Zooms and moves the board of Pokino by its view box; the whole board is `whole`. If its dominoes
// would be too small, the board shows the latest piece and an overview.
"use strict";

const board = replay.querySelector(".layout svg");
const whole = board?.getAttribute("viewBox").split(" ").map(Number);
// Units of the short side of a domino, and the pixels that it needs and may have.
const DOMINO = 37;
const SMALLEST_DOMINO = 24;
const LARGEST_DOMINO = 160;
// Units between the dominoes and the edge of the shown part.
const MARGIN = 40;
let grip = null;
// Whether the board moves to the latest piece; until the reader moves it.
let isFollowing = true;
let overview = null;

// Units per pixel with which the board is seen whole.
function wholeScale(box) {
  return Math.max(whole[2] / box.width, whole[3] / box.height);
}

// Returns the left and top edge of the shown part, and its units per pixel.
function shownPart() {
  const box = board.getBoundingClientRect();
  const { a, d, e, f } = board.getScreenCTM();
  return [(box.left - e) / a, (box.top - f) / d, 1 / a];
}

// Shows a part with the shape of the element, so that a long chain leaves no side empty.
function showBoard(left, top, units) {
  clearLines(board);
  const box = board.getBoundingClientRect();
  const isPart = units < wholeScale(box);
  const sizes = [box.width * units, box.height * units];
  const starts = [left, top].map((start, side) => {
    const room = whole[2 + side] - sizes[side];
    return whole[side] + (room > 0 ? Math.min(Math.max(start - whole[side], 0), room) : room / 2);
  });
  board.setAttribute("viewBox", (isPart ? [...starts, ...sizes] : whole).join(" "));
  board.classList.toggle("zoomed", isPart);
  const [x, y] = starts;
  const [width, height] = sizes;
  showOverview(`M${x} ${y}h${width}v${height}h${-width}z`, isPart);
}

function showOverview(seen, isPart) {
  overview.toggleAttribute("hidden", !isPart);
  const laid = Array.from(board.querySelectorAll("g:not([hidden]) > .tile"), (tile) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => tile.getAttribute(name));
    return `M${x} ${y}h${width}v${height}h-${width}z`;
  });
  overview.firstChild.setAttribute("d", laid.join(""));
  overview.lastChild.setAttribute("d", seen);
}

function makeOverview() {
  const made = board.cloneNode(false);
  made.setAttribute("class", "overview");
  made.setAttribute("preserveAspectRatio", "none");
  for (const name of ["laid", "seen"]) {
    const path = document.createElementNS(board.namespaceURI, "path");
    path.setAttribute("class", name);
    made.append(path);
  }
  board.after(made);
  return made;
}

// Where a part around a place begins within what lies on the board; a larger part is centred on it.
function beginPart(place, size, boxes, side, length) {
  const start = Math.min(...boxes.map((box) => box[side])) - MARGIN;
  const room = Math.max(...boxes.map((box) => box[side] + box[length])) + MARGIN - start;
  return size < room ? Math.min(Math.max(place - size / 2, start), start + room - size) : start + (room - size) / 2;
}

// Shows the whole board, or as much up to the latest piece as keeps dominoes large enough.
function followBoard() {
  if (!board || !isFollowing) return;
  const box = board.getBoundingClientRect();
  const units = Math.min(wholeScale(box), DOMINO / SMALLEST_DOMINO);
  const laid = Array.from(board.querySelectorAll("g:not([hidden]) > .tile"), (tile) => tile.getBBox());
  const piece = board.querySelector("g:not([hidden]) > .new")?.getBBox() ?? laid.at(-1);
  if (!piece) return showBoard(whole[0], whole[1], units);
  const lines = showLines(board, piece.x + piece.width / 2, units);
  board.classList.toggle("zoomed", Boolean(lines?.isPart));
  if (lines) return showOverview(lines.path, lines.isPart);
  const left = beginPart(piece.x + piece.width / 2, box.width * units, laid, "x", "width");
  showBoard(left, beginPart(piece.y + piece.height / 2, box.height * units, laid, "y", "height"), units);
}

// Keeps the place at which `share` of the width and of the height lies.
function zoomBoard(factor, shareX = 0.5, shareY = 0.5) {
  if (!board) return;
  isFollowing = false;
  const box = board.getBoundingClientRect();
  const [left, top, units] = shownPart();
  const next = Math.max(Math.min(units * factor, wholeScale(box)), DOMINO / LARGEST_DOMINO);
  const change = units - next;
  showBoard(left + box.width * shareX * change, top + box.height * shareY * change, next);
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
  isFollowing = false;
  board.setPointerCapture(event.pointerId);
  grip = { x: event.clientX, y: event.clientY };
}

function dragBoard(event) {
  if (!grip) return;
  const [left, top, units] = shownPart();
  showBoard(left - (event.clientX - grip.x) * units, top - (event.clientY - grip.y) * units, units);
  grip = { x: event.clientX, y: event.clientY };
}

function beginBoard() {
  if (!board) return;
  overview = makeOverview();
  board.addEventListener("wheel", wheelBoard, { passive: false });
  board.addEventListener("pointerdown", gripBoard);
  board.addEventListener("pointermove", dragBoard);
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { grip = null; });
  board.addEventListener("dblclick", () => { isFollowing = false; showBoard(0, 0, wholeScale(board.getBoundingClientRect())); });
  addEventListener("resize", followBoard);
}
