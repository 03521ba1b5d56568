/** A bot that plays all five games at random. */
import { run } from "./kit.js";

run((turn) => turn.pick(turn.legal));
