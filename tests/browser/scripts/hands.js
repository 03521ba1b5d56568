() => Array.from(document.querySelectorAll(".seat"), (seat) => [
  Number(seat.className.match(/s(\d)/)[1]),
  Array.from(seat.querySelectorAll(".hand .card:not(.back)"))
    .filter((card) => card.checkVisibility({ visibilityProperty: true }))
    .map((card) => card.textContent.replace(/[, ].*/s, "")),
])
