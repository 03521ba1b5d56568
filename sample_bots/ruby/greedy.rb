# A bot for Poke that rates every legal action and chooses the best.
require_relative "pokearena_bot"

# Returns 0 for a two to 12 for an ace.
def rank(card)
  "23456789TJQKA".index(card[0])
end

# Whether a draw is free: the dealer's first. Others double the price of the opponent's tricks.
def free?(view, seat)
  view.dealer == seat && view.drawn.none? { |drawn| drawn.seat == seat }
end

# Rates an action of the seat that sees this view; 0 is to do nothing.
def worth(action, view, seat)
  held = view.hand.map { |card| card[0] }.tally
  move = action.poke
  case move.action
  when :draw # Low single cards, if the draw is free.
    cards = move.draw.discards
    loose = cards.all? { |card| held[card[0]] == 1 }
    free?(view, seat) && loose ? cards.sum { |card| rank("Q") - rank(card) } : -1
  when :lead # Groups and high cards are hard to beat.
    20 * move.lead.cards.size + rank(move.lead.cards[0])
  when :answer # The cheapest winning cards, otherwise the cheapest cards.
    cards = move.answer.cards
    price = cards.sum { |card| rank(card) + 20 * (held[card[0]] - 1) }
    wins = cards.map { |card| card[0] }.uniq.one? && rank(cards[0]) > rank(view.lead[0])
    (wins ? 1000 : 0) - price
  else
    0
  end
end

PokearenaBot.run do |turn, random|
  turn.legal.max_by { |action| [worth(action, turn.view.poke, turn.seat), random.rand] }
end
