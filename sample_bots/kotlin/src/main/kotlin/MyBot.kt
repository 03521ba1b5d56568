import pokearena.Move
import pokearena.Turn
import pokearena.run

/** My bot. Edit choose(). To watch it: `pokearena play poke . sample:random --watch` */
private fun choose(turn: Turn): Move = Move(turn.legalList.random(turn.random))

fun main() = run(::choose)
