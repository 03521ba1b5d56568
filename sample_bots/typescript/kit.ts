/**
 * The kit: all a bot in TypeScript needs besides an idea.
 *
 * A whole bot:
 *
 *     import { run } from "./kit.js";
 *     run((turn) => turn.pick(turn.legal));
 *
 * `turn` is the question, the message `ActRequest` of proto/pokearena/v1/bot.proto: what you see is
 * `turn.view.poke` (or another game's), what you may do is `turn.legal`, the most harmless first.
 * Return one of them, or any other legal `Action`, or `[action, "a note"]`: the replay shows the
 * note beside the move. A function that is `async` may be a bot too.
 *
 * `turn.random()` is a number from 0 to 1, seeded with `turn.luck`, so the same question gets the
 * same answer whenever it is asked: tournaments with a seed come out the same twice, and
 * `pokearena ask` shows what really happened. `Math.random()` would not do that.
 *
 * A bot that remembers is an object:
 *
 *     run({
 *       start(start) {},              // optional; what will be played (StartRequest)
 *       act(turn) { return ...; },    // like the function above
 *       end(end) {},                  // optional; the table is over (EndRequest): tidy up here
 *     });
 *
 * It plays one game at a time, unless `start` returns `{ games_in_flight: 8 }`. Your code answers
 * one question at a time. What it prints is kept (`pokearena logs`). An exception ends the process:
 * its trace is the last thing in that output.
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
  PlayResponse,
  StartRequest,
  StartResponse,
} from "./pokearena/v1/bot.js";

export type { Action, EndRequest, StartRequest, StartResponse } from "./pokearena/v1/bot.js";

/** A question, and random numbers that are the same for the same question. */
export interface Turn extends ActRequest {
  view: NonNullable<ActRequest["view"]>;
  /** A number from 0 up to 1. */
  random(): number;
  /** One of some things, by chance. */
  pick<Thing>(things: Thing[]): Thing;
}

export type Move = Action | [Action, string];
export type Choose = (turn: Turn) => Move | Promise<Move>;
type Maybe<Said> = Said | void;

/** A bot that remembers. */
export interface Player {
  act: Choose;
  start?(start: StartRequest): Maybe<Partial<StartResponse>> | Promise<Maybe<Partial<StartResponse>>>;
  end?(end: EndRequest): Maybe<unknown>;
}

/** How many games at once a plain function is asked about: it remembers nothing between them. */
export const GAMES_IN_FLIGHT = 16;

const LARGEST_MESSAGE = 64 << 20;
const PROTOCOL = fileURLToPath(new URL("../proto", import.meta.url));

/** Serves a bot where the arena expects it, until the arena ends it. */
export function run(bot: Choose | Player): void {
  const address = process.env.POKEARENA_ADDRESS;
  if (!address) {
    console.error("This is a bot; the arena starts it and says where it has to listen.");
    console.error("To see it play:  pokearena play poke . sample:random --watch");
    process.exit(1);
  }
  const games = typeof bot === "function" ? GAMES_IN_FLIGHT : 1;
  const player = typeof bot === "function" ? { act: bot } : bot;
  const server = new grpc.Server({ "grpc.max_receive_message_length": LARGEST_MESSAGE });
  server.addService(service(), methods(player, games));
  server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error) => {
    if (error) leave(error);
  });
}

/** The service as it is described in `proto/`, read when the bot starts. */
function service(): grpc.ServiceDefinition {
  const loaded = loadSync("pokearena/v1/bot.proto", {
    includeDirs: [PROTOCOL],
    keepCase: true,
    longs: String,
    defaults: true,
  });
  return loaded["pokearena.v1.BotService"] as grpc.ServiceDefinition;
}

/** What the referee asks, one after another. */
function methods(player: Player, games: number): grpc.UntypedServiceImplementation {
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<Said>(work: () => Said | Promise<Said>): Promise<Said> {
    const said = last.then(work).catch(leave);
    last = said;
    return said;
  }
  async function answerAll(questions: ActRequest[]): Promise<PlayResponse> {
    const answers: ActResponse[] = [];
    for (const question of questions) answers.push(await answer(player, question));
    return { answers };
  }
  function Start(call: Call<StartRequest>, reply: Reply<Partial<StartResponse>>) {
    const start = async () => ({ games_in_flight: games, ...(await player.start?.(call.request)) });
    inTurn(start).then((said) => reply(null, said));
  }
  function End(call: Call<EndRequest>, reply: Reply<object>) {
    inTurn(() => player.end?.(call.request)).then(() => reply(null, {}));
  }
  function Act(call: Call<ActRequest>, reply: Reply<ActResponse>) {
    inTurn(() => answer(player, call.request)).then((said) => reply(null, said));
  }
  function Play(stream: grpc.ServerDuplexStream<PlayRequest, PlayResponse>) {
    stream.on("data", (batch: PlayRequest) => {
      inTurn(() => answerAll(batch.questions)).then((said) => stream.write(said));
    });
    stream.on("end", () => inTurn(() => stream.end()));
  }
  return { Start, End, Act, Play };
}

type Call<Asked> = grpc.ServerUnaryCall<Asked, unknown>;
type Reply<Said> = grpc.sendUnaryData<Said>;

async function answer(player: Player, question: ActRequest): Promise<ActResponse> {
  const random = seeded(question.luck);
  const pick = <Thing>(things: Thing[]) => things[Math.floor(random() * things.length)];
  const move = await player.act(Object.assign(question, { random, pick }) as Turn);
  const [action, note] = Array.isArray(move) ? move : [move, ""];
  if (typeof action !== "object") {
    throw new TypeError(`an answer is an Action or [Action, "a note"]; it was ${action}`);
  }
  return { game: question.game, decision: question.decision, action, note };
}

/** Random numbers from 0 up to 1: SplitMix64. */
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

/** Ends the process with what went wrong as its last words. */
function leave(error: unknown): never {
  console.error(error);
  process.exit(1);
}
