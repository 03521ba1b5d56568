() => Array.from(document.querySelectorAll(".hand .card.ten"), (card) => {
  const text = document.createRange();
  text.selectNodeContents(card.firstElementChild.firstChild);
  const next = card.nextElementSibling;
  return next && next.getBoundingClientRect().top === card.getBoundingClientRect().top
    ? next.getBoundingClientRect().left - text.getBoundingClientRect().right : 0;
})
