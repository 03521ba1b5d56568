/**
 * A bot that plays Pokino by rules of thumb: it rates every legal action and chooses the best.
 */
import { type GameTurn, run } from "./kit.js";
import type { PokinoAction, PokinoView } from "./pokearena/v1/pokino.js";

const NUMBERS = "KA23456789TJQ";
/** A run of at least this many cards is worth its beads at any time. */
const LONG = 5;

function choose(turn: GameTurn<"pokino">): PokinoAction {
  const marks = turn.legal.map((action) => mark(turn.pokino, action));
  return turn.legal[marks.indexOf(Math.max(...marks))];
}

function mark(view: PokinoView, action: PokinoAction): number {
  if (action.run) {
    const length = action.run.cards.length;
    if (length === view.hand.length) return 1000; // playing the last card wins, regardless of points
    return length < LONG ? -1 : 100 * length;
  }
  if (!action.domino) return 0;
  // A domino brings a bead. Its numbers are useful if they match cards in hand.
  const { domino } = action.domino;
  const held = view.hand.map((card) => NUMBERS.indexOf(card[0]));
  return 1 + domino.split("-").filter((number) => held.includes(Number(number))).length;
}

run({ pokino: choose });
