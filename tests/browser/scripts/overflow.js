() => {
  const wide = document.documentElement.clientWidth;
  const found = document.documentElement.scrollWidth > wide ? ["the page"] : [];
  for (const seat of document.querySelectorAll(".seat")) {
    const box = seat.getBoundingClientRect();
    for (const card of seat.querySelectorAll(".card > span, .dom")) {
      const own = card.getBoundingClientRect();
      if (own.width && (own.right > box.right + 1 || own.left < box.left - 1)) {
        found.push(`${seat.className}: ${card.textContent}`);
      }
    }
  }
  return found;
}
