/**
 * The kit: implements the protocol for bots in TypeScript and JavaScript.
 *
 * A complete bot:
 *
 *     import { run } from "./kit.js";
 *     run((turn) => turn.pick(turn.legal));
 *
 * `turn` is a question, the message `ActRequest` of proto/pokearena/v1/bot.proto. `turn.view.poke`
 * (or that of another game) is everything your seat sees. `turn.legal` contains the legal actions,
 * the least risky first. Return one of them, or any other legal `Action`, or `[action, "a note"]`:
 * the replay shows the note beside the action. The function may be `async`.
 *
 * A function for each game gets only what belongs to the game: `turn.poke` is the view, and
 * `turn.legal` contains the actions of the game, which editors complete:
 *
 *     run({
 *       poke(turn) {
 *         console.log(turn.poke.hand);
 *         return turn.legal.find((action) => action.draw?.discards.length === 1) ?? turn.legal[0];
 *       },
 *     });
 *
 * `turn.random()` returns a number from 0 to 1, seeded with `turn.luck`, so the same question always
 * gets the same answer: a tournament with a seed has the same result twice, and `pokearena ask`
 * repeats what happened in the match. Do not use `Math.random()`, which has no seed.
 *
 * A bot with memory is an object:
 *
 *     run({
 *       start(start) {},              // optional; the table begins (StartRequest)
 *       act(turn) { return ...; },    // like the function above
 *       end(end) {},                  // optional; the table is over (EndRequest): release resources
 *     });
 *
 * If `start` returns `{ with_text: true }`, `turn.text` is the question as plain text, and the answer
 * may be a text too: the number of a listed action, or the action in words.
 *
 * It plays one game at a time, unless `start` returns `{ games_in_flight: 8 }`. Your code answers
 * one question at a time. `pokearena logs` prints the bot's output. An exception ends the process,
 * and its trace is the end of that output.
 */
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { fileURLToPath } from "node:url";

import type {
  Action,
  ActRequest,
  ActResponse,
  EndRequest,
  PlayRequest,
  StartRequest,
  StartResponse,
  View,
} from "./pokearena/v1/bot.js";

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
} & { legal: GameAction<Name>[] };
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
export const GAMES_IN_FLIGHT = 16;

const LARGEST_MESSAGE = 64 << 20;
/** The compiled kit is in `target/`, the kit in JavaScript beside `proto/`. */
const PROTOCOL = ["../proto", "./proto"].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** Returns a function that answers each question with the function of its game. */
export function byGame(games: Games): Choose {
  return async (turn) => {
    const name = (Object.keys(turn.view) as Game[]).find((game) => turn.view[game]) as Game;
    const choose = games[name] as ((turn: object) => GameMove<Game>) | undefined;
    if (!choose) {
      throw new Error(
        `no function answers the questions of "${name}": define one, or remove the game from ` +
          "`games` in bot.toml",
      );
    }
    const legal = turn.legal.map((action) => action[name]);
    const [action, note] = parts(await choose({ ...turn, [name]: turn.view[name], legal }));
    return [{ [name]: action }, note];
  };
}

/** Serves a bot at POKEARENA_ADDRESS until the arena ends it. */
export function run(bot: Choose | Player | Games): void {
  const address = process.env.POKEARENA_ADDRESS;
  if (!address) {
    console.error("This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.");
    console.error("To watch it play:  pokearena play poke . sample:random --watch");
    process.exit(1);
  }
  const games = "act" in bot ? 1 : GAMES_IN_FLIGHT;
  const player = "act" in bot ? bot : { act: typeof bot === "function" ? bot : byGame(bot) };
  const server = new grpc.Server({ "grpc.max_receive_message_length": LARGEST_MESSAGE });
  server.addService(service(), methods(player, games));
  server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error) => {
    if (error) leave(error);
  });
}

/** Returns the definition of the service, read from `proto/` when the bot starts. */
function service(): grpc.ServiceDefinition {
  const loaded = loadSync("pokearena/v1/bot.proto", {
    includeDirs: PROTOCOL,
    keepCase: true,
    longs: String,
    defaults: true,
  });
  return loaded["pokearena.v1.BotService"] as grpc.ServiceDefinition;
}

/** Returns the methods of BotService. They run one after another. */
function methods(player: Player, games: number): grpc.UntypedServiceImplementation {
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = last.then(work).catch(leave);
    last = result;
    return result;
  }
  async function answerAll(questions: ActRequest[]): Promise<{ answers: Partial<ActResponse>[] }> {
    const answers: Partial<ActResponse>[] = [];
    for (const question of questions) answers.push(await answer(player, question));
    return { answers };
  }
  function Start(call: Call<StartRequest>, reply: Reply<Partial<StartResponse>>) {
    const start = async () => ({ games_in_flight: games, ...(await player.start?.(call.request)) });
    inTurn(start).then((response) => reply(null, response));
  }
  function End(call: Call<EndRequest>, reply: Reply<object>) {
    inTurn(() => player.end?.(call.request)).then(() => reply(null, {}));
  }
  function Act(call: Call<ActRequest>, reply: Reply<Partial<ActResponse>>) {
    inTurn(() => answer(player, call.request)).then((response) => reply(null, response));
  }
  function Play(stream: grpc.ServerDuplexStream<PlayRequest, unknown>) {
    stream.on("data", (batch: PlayRequest) => {
      inTurn(() => answerAll(batch.questions)).then((response) => stream.write(response));
    });
    stream.on("end", () => inTurn(() => stream.end()));
  }
  return { Start, End, Act, Play };
}

type Call<Request> = grpc.ServerUnaryCall<Request, unknown>;
type Reply<Response> = grpc.sendUnaryData<Response>;

async function answer(player: Player, question: ActRequest): Promise<Partial<ActResponse>> {
  const random = seeded(question.luck);
  const pick = <Item>(items: Item[]) => items[Math.floor(random() * items.length)];
  const [action, note] = parts(await player.act(Object.assign(question, { random, pick }) as Turn));
  const answer = typeof action === "string" ? { text: action } : { action };
  const { game, decision, attempt } = question;
  return { game, decision, attempt, note, ...answer };
}

/** Returns the action and the note of an answer. */
function parts<Act>(move: Act | [Act, string]): [Act, string] {
  const [action, note] = Array.isArray(move) ? move : [move, ""];
  if ((typeof action !== "object" && typeof action !== "string") || action === null) {
    throw new TypeError(`return an action or [action, "a note"], not ${action}`);
  }
  return [action, note];
}

/** Returns a generator of random numbers from 0 to 1 (excluded): SplitMix64. */
function seeded(luck: string): () => number {
  let state = BigInt(luck);
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let mixed = state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return Number((mixed ^ (mixed >> 31n)) >> 11n) / 2 ** 53;
  };
}

/** Prints an error and ends the process. */
function leave(error: unknown): never {
  console.error(error);
  process.exit(1);
}
