import kotlin.math.abs
import pokearena.Move
import pokearena.Turn
import pokearena.run
import pokearena.v1.Bot.Action
import pokearena.v1.Bot.GenericAction

private val PRIZES = Regex("\"prizes\":\\[([^\\]]*)\\]")
private val CARD = Regex("\"([2-9])[SHDC]\"")

private fun rank(card: MatchResult): Int = card.groupValues[1].toInt()

/** Bids the card that is nearest to the prize. */
private fun choose(turn: Turn): Move {
    val prizes = PRIZES.find(turn.view.generic.json)!!.groupValues[1]
    val prize = CARD.findAll(prizes).sumOf(::rank)
    val cards = turn.legalList.map { CARD.find(it.generic.json)!! }
    val best = cards.minByOrNull { abs(rank(it) - prize) }!!
    val json = "{\"bid\": {\"card\": ${best.value}}}"
    val generic = GenericAction.newBuilder().setGame("goofspiel").setJson(json).build()
    return Move(Action.newBuilder().setGeneric(generic).build(), "typed")
}

fun main() = run(::choose)
