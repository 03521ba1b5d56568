import type { Action, ActRequest, EndRequest, StartRequest, StartResponse, View } from "./pokearena/v1/bot.js";
export type { Action, EndRequest, StartRequest, StartResponse } from "./pokearena/v1/bot.js";
/** A question with random numbers whose seed depends on the question only. */
export interface Turn extends ActRequest {
    view: NonNullable<ActRequest["view"]>;
    /** Returns a number from 0 (included) to 1 (excluded). */
    random(): number;
    /** Returns a random item. */
    pick<Item>(items: Item[]): Item;
}
/** An action, or its text as in `turn.text`; or one of them with a note. */
export type Move = Action | string | [Action | string, string];
export type Choose = (turn: Turn) => Move | Promise<Move>;
type Maybe<Result> = Result | void;
/** The name of a game, as in `View` and `Action`. */
export type Game = keyof View & keyof Action;
/** An action of a game, for example `PokeAction`. */
export type GameAction<Name extends Game> = NonNullable<Action[Name]>;
/** A question in one game: its view, with the name of the game, and its legal actions. */
export type GameTurn<Name extends Game> = Omit<Turn, "legal"> & {
    [Only in Name]: NonNullable<View[Only]>;
} & {
    legal: GameAction<Name>[];
};
type GameMove<Name extends Game> = GameAction<Name> | [GameAction<Name>, string];
/** A function for each game. */
export type Games = {
    [Name in Game]?: (turn: GameTurn<Name>) => GameMove<Name> | Promise<GameMove<Name>>;
};
/** A bot with memory. */
export interface Player {
    act: Choose;
    start?(start: StartRequest): Maybe<Partial<StartResponse>> | Promise<Maybe<Partial<StartResponse>>>;
    end?(end: EndRequest): Maybe<unknown>;
}
/** Number of games that a function plays concurrently: it has no memory. */
export declare const GAMES_IN_FLIGHT = 16;
/** Returns a function that answers each question with the function of its game. */
export declare function byGame(games: Games): Choose;
/** Serves a bot at POKEARENA_ADDRESS until the arena ends it. */
export declare function run(bot: Choose | Player | Games): void;
