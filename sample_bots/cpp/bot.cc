// My bot. Edit choose(); `pokearena play poke . sample:random --watch` shows it playing.
#include "pokearena_bot.h"

// Answers one question: one of turn.legal(), the most harmless first.
pokearena::Move choose(const pokearena::Turn& turn, pokearena::Random& random) {
  std::uniform_int_distribution<int> any(0, turn.legal_size() - 1);
  return turn.legal(any(random));
}

int main() { pokearena::run(choose); }
