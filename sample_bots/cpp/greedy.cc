// A bot for Poke that rates every legal action and chooses the best.
#include <algorithm>
#include <string>

#include "pokearena_bot.h"

using pokearena::v1::Action;
using pokearena::v1::PokeAction;
using pokearena::v1::PokeView;

// From 0 for a two to 12 for an ace.
int rank(const std::string& card) { return std::string("23456789TJQKA").find(card[0]); }

// The number of cards in hand with the rank of this card.
int held(const PokeView& view, const std::string& card) {
  return std::count_if(view.hand().begin(), view.hand().end(),
                       [&](const std::string& other) { return other[0] == card[0]; });
}

// Rates a draw: it is good to discard low single cards, but only if the draw is free.
// The dealer's first draw is free; any other doubles the price of the opponent's tricks.
int worth(const PokeAction::Draw& draw, const PokeView& view, unsigned seat) {
  bool free = view.dealer() == seat;
  for (const auto& drawn : view.drawn()) free = free && drawn.seat() != seat;
  int worth = 0;
  for (const auto& card : draw.discards()) {
    free = free && held(view, card) == 1;
    worth += rank("Q") - rank(card);
  }
  return free ? worth : -1;
}

// Rates an answer: the cheapest winning one, otherwise the cheapest cards.
int worth(const PokeAction::Answer& answer, const PokeView& view) {
  bool wins = rank(answer.cards(0)) > rank(view.lead(0));
  int price = 0;
  for (const auto& card : answer.cards()) {
    wins = wins && rank(card) == rank(answer.cards(0));
    price += rank(card) + 20 * (held(view, card) - 1);
  }
  return (wins ? 1000 : 0) - price;
}

// Rates an action of the seat that sees this view; 0 is to do nothing.
int worth(const Action& action, const PokeView& view, unsigned seat) {
  const PokeAction& move = action.poke();
  if (move.has_draw()) return worth(move.draw(), view, seat);
  if (move.has_answer()) return worth(move.answer(), view);
  // Groups and high cards are hard to beat.
  if (move.has_lead()) return 20 * move.lead().cards_size() + rank(move.lead().cards(0));
  return 0;
}

// The best action; chance decides between equal ones.
pokearena::Move choose(const pokearena::Turn& turn, pokearena::Random& random) {
  std::vector<Action> legal(turn.legal().begin(), turn.legal().end());
  std::shuffle(legal.begin(), legal.end(), random);
  return *std::max_element(legal.begin(), legal.end(), [&](const Action& one, const Action& other) {
    return worth(one, turn.view().poke(), turn.seat()) <
           worth(other, turn.view().poke(), turn.seat());
  });
}

int main() { pokearena::run(choose); }
