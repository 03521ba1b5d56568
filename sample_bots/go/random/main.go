// A bot that plays all five games at random.
package main

import "mybot/kit"

func choose(turn *kit.Turn) (*kit.Action, string) {
	return turn.Legal[turn.Rand.IntN(len(turn.Legal))], ""
}

func main() { kit.Run(choose) }
