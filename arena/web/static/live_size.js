// Zooms each live table so that it is seen whole, on the first screen where that leaves it enough
// room. Part of each page with live tables, after them, so that they have their size at the first
// paint. Where nothing reserves space, a table is as high as its content: its frame keeps the height,
// the log takes what the table leaves, and an update may make the table smaller but never larger.
"use strict";
{
  const SMALLEST = 0.4;
  // The smallest share of the window that is enough for a table; the first page has more below it.
  const SMALLEST_SHARE = 0.42, SMALLEST_HOME_SHARE = 0.5;
  // The share that is enough for the frame of a table that is as high as its content.
  const FRAME_SHARE = 0.6;
  // The space above a part below the table.
  const GAP = 8;
  // The width of a page over a stream for which a table is not enlarged.
  const PLAIN_WIDTH = 1600;
  const PLACES = "#match-table, #home-table, #embed-table, #embed-overlay, .places > div";
  // Units of the short side of a domino, and the pixels that it needs.
  const DOMINO = 37;
  const SMALLEST_DOMINO = 24;
  // The centre of each shown part of a board; an action elsewhere does not move it.
  const centres = new WeakMap();

  // The scale of each table, with the form of its game.
  const scales = new WeakMap();

  const fit = (place, isUpdate) => {
    const felt = place.querySelector(".felt");
    if (!felt) return;
    const last = scales.get(place);
    const largest = place.id === "embed-overlay" ? Math.max(1, innerWidth / PLAIN_WIDTH) : 1;
    let scale = isUpdate && last?.form === felt.className ? last.scale : largest;
    const top = felt.getBoundingClientRect().top;
    const first = innerHeight - top - scrollY - 8;
    const share = place.id === "home-table" ? SMALLEST_HOME_SHARE : SMALLEST_SHARE;
    const room = first > share * innerHeight ? first : FRAME_SHARE * innerHeight;
    const table = felt.closest(".live-table");
    if (table) {
      const { right } = felt.getBoundingClientRect();
      let height = top - table.getBoundingClientRect().top + room;
      for (const part of table.querySelectorAll(".standing, .odds, .live-scores")) {
        const box = part.getBoundingClientRect();
        if (box.top > top && box.left < right) height += box.height + GAP;
      }
      place.style.setProperty("--frame", `${Math.floor(height)}px`);
    }
    // A smaller table is laid out wider and may have fewer lines.
    for (let tries = 9; tries > 0; tries -= 1) {
      place.style.setProperty("--scale", String(scale));
      place.style.setProperty("--room", `${Math.floor(room / scale)}px`);
      scales.set(place, { scale, form: felt.className });
      const { height } = felt.getBoundingClientRect();
      if (height <= room || scale <= SMALLEST) return;
      scale = Math.max(SMALLEST, scale * Math.min(Math.sqrt(room / height), 0.96));
    }
  };
  // Where the shown part of a side begins: around the centre, within the whole; a larger part is centred.
  const begin = (centre, part, start, whole) => (
    part >= whole ? start + (whole - part) / 2
      : Math.min(Math.max(centre - part / 2, start), start + whole - part));
  const overview = (board, seen) => {
    const map = board.cloneNode(false);
    map.setAttribute("class", "overview");
    map.setAttribute("preserveAspectRatio", "none");
    map.setAttribute("viewBox", board.dataset.whole);
    const laid = Array.from(board.querySelectorAll(".tile"), (tile) => {
      const { x, y, width, height } = tile.getBBox();
      return `M${x} ${y}h${width}v${height}h-${width}z`;
    });
    for (const [name, d] of [["laid", laid.join("")], ["seen", seen]]) {
      const path = document.createElementNS(board.namespaceURI, "path");
      path.setAttribute("class", name);
      path.setAttribute("d", d);
      map.append(path);
    }
    board.after(map);
  };
  // Shows the whole board of Pokino, or as much around the latest piece as keeps dominoes large enough.
  const follow = (place) => {
    const board = place.querySelector(".layout svg");
    if (!board) return;
    board.parentElement.querySelector(".overview")?.remove();
    clearLines(board);
    board.dataset.whole ??= board.getAttribute("viewBox");
    board.setAttribute("viewBox", board.dataset.whole);
    const [left, top, width, height] = board.dataset.whole.split(" ").map(Number);
    const piece = board.querySelector("g > .new")?.getBBox();
    if (piece) centres.set(place, [piece.x + piece.width / 2, piece.y + piece.height / 2]);
    const [x, y] = centres.get(place) ?? [left + width / 2, top + height / 2];
    const box = board.getBoundingClientRect();
    const units = DOMINO / SMALLEST_DOMINO;
    if (width <= box.width * units && height <= box.height * units) return;
    const lines = showLines(board, x, units);
    if (lines) return lines.isPart ? overview(board, lines.path) : undefined;
    const [w, h] = [box.width * units, box.height * units];
    const [l, t] = [begin(x, w, left, width), begin(y, h, top, height)];
    board.setAttribute("viewBox", `${l} ${t} ${w} ${h}`);
    overview(board, `M${l} ${t}h${w}v${h}h-${w}z`);
  };
  const fitAll = () => document.querySelectorAll(PLACES).forEach((place) => { fit(place, false); follow(place); });
  fitAll();
  addEventListener("resize", fitAll);
  document.addEventListener("arena:shown", ({ target }) => {
    if (!target.matches(PLACES)) return;
    fit(target, true);
    follow(target);
  });
}
