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
/** Number of games that a function plays concurrently: it has no memory. */
export const GAMES_IN_FLIGHT = 16;
const LARGEST_MESSAGE = 64 << 20;
/** The compiled kit is in `target/`, the kit in JavaScript beside `proto/`. */
const PROTOCOL = ["../proto", "./proto"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
/** Returns a function that answers each question with the function of its game. */
export function byGame(games) {
    return async (turn) => {
        const name = Object.keys(turn.view).find((game) => turn.view[game]);
        const choose = games[name];
        if (!choose) {
            throw new Error(`no function answers the questions of "${name}": define one, or remove the game from ` +
                "`games` in bot.toml");
        }
        const legal = turn.legal.map((action) => action[name]);
        const [action, note] = parts(await choose({ ...turn, [name]: turn.view[name], legal }));
        return [{ [name]: action }, note];
    };
}
/** Serves a bot at POKEARENA_ADDRESS until the arena ends it. */
export function run(bot) {
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
        if (error)
            leave(error);
    });
}
/** Returns the definition of the service, read from `proto/` when the bot starts. */
function service() {
    const loaded = loadSync("pokearena/v1/bot.proto", {
        includeDirs: PROTOCOL,
        keepCase: true,
        longs: String,
        defaults: true,
    });
    return loaded["pokearena.v1.BotService"];
}
/** Returns the methods of BotService. They run one after another. */
function methods(player, games) {
    let last = Promise.resolve();
    function inTurn(work) {
        const result = last.then(work).catch(leave);
        last = result;
        return result;
    }
    async function answerAll(questions) {
        const answers = [];
        for (const question of questions)
            answers.push(await answer(player, question));
        return { answers };
    }
    function Start(call, reply) {
        const start = async () => ({ games_in_flight: games, ...(await player.start?.(call.request)) });
        inTurn(start).then((response) => reply(null, response));
    }
    function End(call, reply) {
        inTurn(() => player.end?.(call.request)).then(() => reply(null, {}));
    }
    function Act(call, reply) {
        inTurn(() => answer(player, call.request)).then((response) => reply(null, response));
    }
    function Play(stream) {
        stream.on("data", (batch) => {
            inTurn(() => answerAll(batch.questions)).then((response) => stream.write(response));
        });
        stream.on("end", () => inTurn(() => stream.end()));
    }
    return { Start, End, Act, Play };
}
async function answer(player, question) {
    const random = seeded(question.luck);
    const pick = (items) => items[Math.floor(random() * items.length)];
    const [action, note] = parts(await player.act(Object.assign(question, { random, pick })));
    const answer = typeof action === "string" ? { text: action } : { action };
    const { game, decision, attempt } = question;
    return { game, decision, attempt, note, ...answer };
}
/** Returns the action and the note of an answer. */
function parts(move) {
    const [action, note] = Array.isArray(move) ? move : [move, ""];
    if ((typeof action !== "object" && typeof action !== "string") || action === null) {
        throw new TypeError(`return an action or [action, "a note"], not ${action}`);
    }
    return [action, note];
}
/** Returns a generator of random numbers from 0 to 1 (excluded): SplitMix64. */
function seeded(luck) {
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
function leave(error) {
    console.error(error);
    process.exit(1);
}
