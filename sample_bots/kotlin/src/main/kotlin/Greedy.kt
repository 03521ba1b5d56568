import pokearena.Move
import pokearena.Turn
import pokearena.run
import pokearena.v1.Pokex.PokexAction
import pokearena.v1.Pokex.PokexAction.ActionCase
import pokearena.v1.Pokex.PokexView

/** A bot for Pokex that rates every legal action and chooses the best. */
private object Greedy {
    const val RANKS = "23456789TJQKA"

    fun choose(turn: Turn) = Move(turn.legalList.maxBy { worth(it.pokex, turn.view.pokex) })

    /** Rates an action; the table of points is rule. */
    fun worth(action: PokexAction, view: PokexView): Int =
        when (action.actionCase) {
            ActionCase.BID -> if (action.bid.tricks <= promise(view)) action.bid.tricks else -1
            ActionCase.NAME_WILD -> 20 * held(view, action.nameWild.rank) - rank(action.nameWild.rank)
            ActionCase.PLAY_PAIR -> pair(action.playPair.cardsList, view)
            ActionCase.PLAY_CARD -> card(action.playCard.card, view)
            else -> 0
        }

    /** Returns the highest bid: the jokers and the most frequent rank win tricks. */
    fun promise(view: PokexView) = held(view, "X") + RANKS.maxOf { held(view, "$it") } - 2

    /** Rates two cards by the groups that they make with the centre card. */
    fun pair(cards: List<String>, view: PokexView): Int {
        val group = (cards + view.turnedList).groupingBy { it[0] }.eachCount().values.max()
        val wilds = cards.count { it.startsWith("X") || it.startsWith(view.wildRank) }
        return 20 * group - 15 * wilds + cards.sumOf(::rank)
    }

    fun card(card: String, view: PokexView) =
        20 * view.turnedList.count { it[0] == card[0] } + rank(card)

    fun held(view: PokexView, rank: String) = view.handList.count { it.startsWith(rank) }

    /** Returns 0 for a two to 12 for an ace, and 13 for a joker. */
    fun rank(card: String) = if (card.startsWith("X")) 13 else RANKS.indexOf(card[0])
}

fun main() = run(Greedy::choose)
