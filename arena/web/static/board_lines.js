// Shows a long chain of dominoes on Pokino's board in lines, like a text, if it does not fit in one.
"use strict";

// Units between two lines, at the left of the board, and of a square, in which lines overlap: each
// domino is whole in one of them.
const LINE_GAP = 30;
const LINE_EDGE = 14;
const LINE_OVERLAP = 40;
// Pixels below the lines for a note, and for an overview of lines that are not all.
const NOTE = 18;

function clearLines(board) {
  for (const line of board.querySelectorAll("use")) line.remove();
  board.classList.remove("lines");
}

// The lines of a chain with their rows; `across` is the width of the board. None without tiles or
// without room for one.
function linesOf(tiles, across) {
  const step = LINE_OVERLAP * (Math.floor((across - LINE_EDGE) / LINE_OVERLAP) - 1);
  const right = Math.max(...tiles.map((tile) => tile.x + tile.width));
  const lines = [];
  if (step <= 0) return lines;
  for (let x = Math.min(...tiles.map((tile) => tile.x)); x + LINE_OVERLAP < right; x += step) {
    const start = x - LINE_EDGE;
    const inside = tiles.filter((tile) => tile.x < start + across && tile.x + tile.width > start);
    const top = Math.min(...inside.map((tile) => tile.y));
    const bottom = Math.max(...inside.map((tile) => tile.y + tile.height));
    if (inside.length) lines.push({ x, width: step + LINE_OVERLAP, top, high: bottom - top + LINE_GAP });
  }
  return lines;
}

function lineOf(lines, place) {
  return Math.max(lines.findLastIndex(({ x }) => x <= place - LINE_OVERLAP), 0);
}

// As many lines around a place as the board has room for.
function linesAround(lines, place, room) {
  let first = lineOf(lines, place);
  let end = first + 1;
  let left = room - lines[first].high;
  while (left >= 0 && end - first < lines.length) {
    const next = lines[end] ?? lines[first - 1];
    left -= next.high;
    if (left < 0) break;
    if (end < lines.length) end += 1;
    else first -= 1;
  }
  return lines.slice(first, end);
}

// Shows the lines around a place, with at most `units` per pixel; nothing without space for two.
// Returns what is seen of the chain and whether it is a part.
function showLines(board, place, units) {
  clearLines(board);
  const box = board.getBoundingClientRect();
  const tiles = Array.from(board.querySelectorAll("g:not([hidden]) > .tile"), (tile) => tile.getBBox());
  const at = (size) => {
    const all = linesOf(tiles, box.width * size);
    if (!all.length) return { size, all, seen: all };
    return { size, all, seen: linesAround(all, place, (box.height - NOTE) * size) };
  };
  let shown = at(units);
  if (shown.seen.length < 2) return null;
  // Larger dominoes, if the lines leave space.
  for (let finer = shown; finer.size > 0.6 && finer.all.length === finer.seen.length;) {
    shown = finer;
    finer = at(0.96 * finer.size);
  }
  const { size, all, seen } = shown;
  const height = box.height * size;
  const free = height - NOTE * size - seen.reduce((sum, { high }) => sum + high, 0);
  const base = seen[lineOf(seen, place)];
  let y = base.top;
  for (const line of seen.slice(0, seen.indexOf(base))) y -= line.high;
  board.setAttribute("viewBox", [base.x - LINE_EDGE, y - (free + LINE_GAP) / 2, box.width * size, height].join(" "));
  board.classList.add("lines");
  const pieces = board.querySelector(".pieces");
  pieces.id ||= `pieces-${document.querySelectorAll(".pieces[id]").length}`;
  for (const line of seen) {
    if (line !== base) {
      const copy = document.createElementNS(board.namespaceURI, "use");
      copy.setAttribute("href", `#${pieces.id}`);
      copy.setAttribute("x", base.x - line.x);
      copy.setAttribute("y", y - line.top);
      board.append(copy);
    }
    y += line.high;
  }
  const path = seen.map((line) => `M${line.x} ${line.top}h${line.width}v${line.high - LINE_GAP}h-${line.width}z`);
  return { path: path.join(""), isPart: seen.length < all.length };
}
