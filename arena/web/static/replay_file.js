// In a file with several games: shows the game that the address names, such as #game-3.
"use strict";

{
  const chosen = document.getElementById(location.hash.slice(1));
  if (chosen instanceof HTMLTemplateElement) {
    document.getElementById("main").replaceChildren(chosen.content.cloneNode(true));
  }
  addEventListener("hashchange", () => {
    if (document.getElementById(location.hash.slice(1))?.id === "main") return;
    // Without the step of the game before.
    if (location.search) location.replace(location.pathname + location.hash);
    else location.reload();
  });
}
