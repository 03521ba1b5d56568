// Zooms and moves the board of Pokino by its view box; the whole board is `whole`.
"use strict";

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
