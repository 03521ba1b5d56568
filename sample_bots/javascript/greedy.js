/**
 * A bot that plays Pouku by rules of thumb: it rates every legal action and chooses the best.
 *
 * @import { GameTurn } from "./kit.js"
 * @import { PoukuAction, PoukuView } from "./pokearena/v1/pouku.js"
 */
import { run } from "./kit.js";

/** @type {(turn: GameTurn<"pouku">) => PoukuAction} */
function choose(turn) {
  const worths = turn.legal.map((action) => worth(turn.pouku, action));
  return turn.legal[worths.indexOf(Math.max(...worths))];
}

/**
 * Rates an action: goes out if it can, and keeps cards that match the reference fields.
 *
 * @type {(view: PoukuView, action: PoukuAction) => number}
 */
function worth(view, action) {
  if (action.go_out) return 1000;
  const { card = "", keep = [] } = action.discard ?? action.give ?? {};
  const fields = view.reference.map((seat) => view.fields[seat].cards);
  const useful = [view.hand, ...fields].flat().filter((other) => other[0] === card[0]);
  const points = card[0] === view.point_card[0] ? view.point : 0;
  return -useful.length - 2 * points - 100 * keep.length;
}

run({ pouku: choose });
