() => {
  const list = document.getElementById("moves").getBoundingClientRect();
  const here = document.querySelector("#moves li.here").getBoundingClientRect();
  return list.top <= here.top && here.bottom <= list.bottom + 1;
}
