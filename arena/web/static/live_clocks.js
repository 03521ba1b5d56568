// Count down the clocks of the acting seats. Without it a clock shows the bank of its position.
"use strict";

// Seconds by which the server's clock is ahead, from the event that arrived fastest.
let ahead = -Infinity;

document.addEventListener("arena:time", (event) => {
  ahead = Math.max(ahead, event.detail - Date.now() / 1000);
});

// The same as `clock` in arena/presentation/wording.py.
function text(milliseconds) {
  if (milliseconds < 60000) return `${(Math.floor(milliseconds / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function tick() {
  if (ahead === -Infinity) return;
  const now = Date.now() / 1000 + ahead;
  for (const clock of document.querySelectorAll(".clock[data-since]")) {
    const spent = 1000 * (now - Number(clock.dataset.since));
    const beyond = Math.max(spent - Number(clock.dataset.allowance), 0);
    clock.textContent = text(Math.max(Number(clock.dataset.bank) - beyond, 0));
  }
}

setInterval(tick, 100);
