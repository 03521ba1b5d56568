// Zooms and moves the board of Pokino by its view box; the whole board is `whole`. If its dominoes
// would be too small, the board shows the latest piece and an overview.
"use strict";

const board = replay.querySelector(".layout svg");
const whole = board?.getAttribute("viewBox").split(" ").map(Number);
const CLOSEST = 6;
// Units of the short side of a domino, and the pixels that it needs.
const DOMINO = 37;
const SMALLEST_DOMINO = 24;
let grip = null;
// Whether the board moves to the latest piece; until the reader moves it.
let isFollowing = true;
let overview = null;

function showBoard(left, top, width) {
  const [wholeLeft, wholeTop, wholeWidth, wholeHeight] = whole;
  const size = Math.min(Math.max(width, wholeWidth / CLOSEST), wholeWidth);
  const height = size * wholeHeight / wholeWidth;
  const x = Math.min(Math.max(left, wholeLeft), wholeLeft + wholeWidth - size);
  const y = Math.min(Math.max(top, wholeTop), wholeTop + wholeHeight - height);
  board.setAttribute("viewBox", `${x} ${y} ${size} ${height}`);
  board.classList.toggle("zoomed", size < wholeWidth);
  showOverview(`M${x} ${y}h${size}v${height}h${-size}z`, size < wholeWidth);
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
  for (const name of ["laid", "seen"]) {
    const path = document.createElementNS(board.namespaceURI, "path");
    path.setAttribute("class", name);
    made.append(path);
  }
  board.after(made);
  return made;
}

// Shows the whole board, or as much around the latest piece as keeps dominoes large enough.
function followBoard() {
  if (!board || !isFollowing) return;
  const [left, top, width, height] = whole;
  const box = board.getBoundingClientRect();
  const scale = Math.min(box.width / width, box.height / height);
  const size = width * Math.min(scale * DOMINO / SMALLEST_DOMINO, 1);
  const piece = board.querySelector("g:not([hidden]) > .new")?.getBBox();
  const x = piece ? piece.x + piece.width / 2 : left + width / 2;
  const y = piece ? piece.y + piece.height / 2 : top + height / 2;
  showBoard(x - size / 2, y - size * height / width / 2, size);
}

// Keeps the place at which `share` of the width and of the height lies.
function zoomBoard(factor, shareX = 0.5, shareY = 0.5) {
  if (!board) return;
  isFollowing = false;
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
  isFollowing = false;
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
  overview = makeOverview();
  board.addEventListener("wheel", wheelBoard, { passive: false });
  board.addEventListener("pointerdown", gripBoard);
  board.addEventListener("pointermove", dragBoard);
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { grip = null; });
  board.addEventListener("dblclick", () => { isFollowing = false; showBoard(...whole); });
  addEventListener("resize", followBoard);
}
