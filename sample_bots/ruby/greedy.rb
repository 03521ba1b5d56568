# A bot for Poke that gives every legal action a worth and takes the best.
require_relative "pokearena_bot"

# 0 for a two to 12 for an ace.
def rank(card)
  "23456789TJQKA".index(card[0])
end

# The dealer's first draw is free; any other doubles the price of the opponent's tricks.
def free?(view, seat)
  view.dealer == seat && view.drawn.none? { |drawn| drawn.seat == seat }
end

# What an action is worth to the seat that sees this; 0 is to do nothing.
def worth(action, view, seat)
  held = view.hand.map { |card| card[0] }.tally
  move = action.poke
  case move.action
  when :draw # Low cards that belong to no group, if that costs nothing.
    cards = move.draw.discards
    loose = cards.all? { |card| held[card[0]] == 1 }
    free?(view, seat) && loose ? cards.sum { |card| rank("Q") - rank(card) } : -1
  when :lead # Several of a rank are hard to beat, and high cards are.
    20 * move.lead.cards.size + rank(move.lead.cards[0])
  when :answer # Win as cheaply as possible, or throw the cheapest away.
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
