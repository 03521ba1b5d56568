// The C++ kit: all a bot needs besides an idea.
//
// A whole bot:
//
//     #include "pokearena_bot.h"
//     int main() {
//       pokearena::run([](const pokearena::Turn& turn, pokearena::Random& random) {
//         return pokearena::Move(turn.legal(random() % turn.legal_size()), "why not");
//       });
//     }
//
// `turn` is the question, the message ActRequest of proto/pokearena/v1/bot.proto: what you see is
// `turn.view().poke()` (or another game's), what you may do is `turn.legal()`, the most harmless
// first. Return one of them, or any other legal Action, with a note if you like: the replay shows
// it beside the move.
//
// `random` is seeded with `turn.luck()`, so the same question gets the same answer whenever it is
// asked; do not draw from anything else.
//
// Your code answers one question at a time, in a thread that is not the main one. What the bot
// prints is kept (`pokearena logs`). An exception ends the process, as a crash does: a stack trace
// is the last thing in that output.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <utility>

#include "pokearena/v1/bot.pb.h"

namespace pokearena {

using Turn = v1::ActRequest;

// What an answer draws from, for the distributions and std::shuffle of the standard library.
struct Random : std::mt19937_64 {
  using std::mt19937_64::mt19937_64;
};

// An answer, and a few words why.
struct Move {
  Move(v1::Action action, std::string note = "")
      : action(std::move(action)), note(std::move(note)) {}
  v1::Action action;
  std::string note;
};

using Choose = std::function<Move(const Turn& turn, Random& random)>;

// A bot that remembers. A plain function remembers nothing and is asked about 16 games at once.
class Player {
 public:
  virtual ~Player() = default;
  // What will be played; what it returns may say how many games it takes at the same time. That
  // is 1 unless it keeps what it remembers by `turn.game()`.
  virtual v1::StartResponse start(const v1::StartRequest&) { return {}; }
  // Answers one question.
  virtual Move act(const Turn& turn, Random& random) = 0;
  // The table is over.
  virtual void end(const v1::EndRequest&) {}
};

// Serves a bot where the arena expects it, until the arena ends it (SIGTERM).
[[noreturn]] void run(Player& bot);
[[noreturn]] void run(Choose choose);

}  // namespace pokearena
