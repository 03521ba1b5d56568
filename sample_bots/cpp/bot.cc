// My bot. Edit choose(). To watch it: `pokearena play poke . sample:random --watch`
#include "pokearena_bot.h"

// Answers one question with one of turn.legal(), the least risky first.
pokearena::Move choose(const pokearena::Turn& turn, pokearena::Random& random) {
  std::uniform_int_distribution<int> any(0, turn.legal_size() - 1);
  return turn.legal(any(random));
}

int main() { pokearena::run(choose); }
