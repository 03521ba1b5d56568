import type { Action, ActRequest, EndRequest, StartRequest, StartResponse } from "./pokearena/v1/bot.js";
export type { Action, EndRequest, StartRequest, StartResponse } from "./pokearena/v1/bot.js";
/** A question with random numbers whose seed depends on the question only. */
export interface Turn extends ActRequest {
    view: NonNullable<ActRequest["view"]>;
    /** Returns a number from 0 (included) to 1 (excluded). */
    random(): number;
    /** Returns a random item. */
    pick<Item>(items: Item[]): Item;
}
export type Move = Action | [Action, string];
export type Choose = (turn: Turn) => Move | Promise<Move>;
type Maybe<Result> = Result | void;
/** A bot with memory. */
export interface Player {
    act: Choose;
    start?(start: StartRequest): Maybe<Partial<StartResponse>> | Promise<Maybe<Partial<StartResponse>>>;
    end?(end: EndRequest): Maybe<unknown>;
}
/** Number of games that a function plays concurrently: it has no memory. */
export declare const GAMES_IN_FLIGHT = 16;
/** Serves a bot at POKEARENA_ADDRESS until the arena ends it. */
export declare function run(bot: Choose | Player): void;
