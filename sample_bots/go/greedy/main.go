// A bot that plays Poke by rules of thumb: it rates every legal action and chooses the best.
package main

import (
	"cmp"
	"slices"
	"strings"

	"mybot/kit"
	pb "mybot/pokearena/v1"
)

func choose(turn *kit.Turn) (*kit.Action, string) {
	view := turn.View.GetPoke()
	mark := func(action *kit.Action) int {
		switch view.Phase {
		case "draw":
			return draw(view, turn.Seat, action.GetPoke().GetDraw().GetDiscards())
		case "lead":
			return lead(view, action.GetPoke().GetLead().GetCards())
		default:
			return answer(view, action.GetPoke().GetAnswer().GetCards())
		}
	}
	best := slices.MaxFunc(turn.Legal, func(a, b *kit.Action) int { return cmp.Compare(mark(a), mark(b)) })
	return best, ""
}

// draw rates a draw. The dealer's first draw is free, so it discards single cards. No cards: stand.
func draw(view *pb.PokeView, seat uint32, discards []string) int {
	drew := slices.ContainsFunc(view.Drawn, func(d *pb.PokeDrawn) bool { return d.Seat == seat })
	if view.Dealer != seat || drew {
		return -len(discards)
	}
	mark := 0
	for _, card := range discards {
		if held(view, card) > 1 {
			return -1
		}
		mark += 20 - rank(card)
	}
	return mark
}

// lead rates a lead: whole groups, which are hard to beat; the best single card only as the last.
func lead(view *pb.PokeView, cards []string) int {
	if held(view, cards[0]) != len(cards) {
		return -1
	}
	higher := func(card string) bool { return rank(card) > rank(cards[0]) }
	if len(cards) == 1 && !slices.ContainsFunc(view.Hand, higher) {
		return 0
	}
	return 100*len(cards) + rank(cards[0])
}

// answer rates an answer: the cheapest winning one; otherwise the lowest cards, groups last.
func answer(view *pb.PokeView, cards []string) int {
	price := 0
	wins := true
	for _, card := range cards {
		price += rank(card) + 20*held(view, card)
		wins = wins && card[0] == cards[0][0] && rank(card) > rank(view.Lead[0])
	}
	if wins {
		return 1000 - price
	}
	return -price
}

// held counts the cards of this card's rank in the hand.
func held(view *pb.PokeView, card string) int {
	return strings.Count(strings.Join(view.Hand, " "), card[:1])
}

func rank(card string) int { return strings.IndexByte("23456789TJQKA", card[0]) }

func main() { kit.Run(choose) }
