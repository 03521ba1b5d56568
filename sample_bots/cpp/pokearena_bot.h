// The C++ kit: implements the protocol for bots.
//
// A complete bot:
//
//     #include "pokearena_bot.h"
//     int main() {
//       pokearena::run([](const pokearena::Turn& turn, pokearena::Random& random) {
//         return pokearena::Move(turn.legal(random() % turn.legal_size()), "why not");
//       });
//     }
//
// `turn` is a question, the message ActRequest of proto/pokearena/v1/bot.proto.
// `turn.view().poke()` (or that of another game) is everything your seat sees. `turn.legal()`
// contains the legal actions, the least risky first. Return one of them, or any other legal Action,
// with an optional note, which the replay shows beside the action.
//
// `random` is seeded with `turn.luck()`, so the same question always gets the same answer. Do not
// use other sources of random numbers.
//
// Your code answers one question at a time, in a thread that is not the main thread. `pokearena
// logs` prints the bot's output. An exception or a crash ends the process, and a stack trace is the
// end of that output.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <utility>

#include "pokearena/v1/bot.pb.h"

namespace pokearena {

using Turn = v1::ActRequest;

// A random number generator for the distributions and std::shuffle of the standard library.
struct Random : std::mt19937_64 {
  using std::mt19937_64::mt19937_64;
};

// An action with an optional note.
struct Move {
  Move(v1::Action action, std::string note = "")
      : action(std::move(action)), note(std::move(note)) {}
  // Returns a move in words: the number of an action in `turn.text()`, or the action as it is written
  // there. That is the question as plain text, if the response of `start` has set `with_text`.
  static Move in_words(std::string text, std::string note = "") {
    Move move(v1::Action(), std::move(note));
    move.text = std::move(text);
    return move;
  }
  v1::Action action;
  std::string note;
  std::string text;
};

using Choose = std::function<Move(const Turn& turn, Random& random)>;

// A bot with memory. A function has no memory and plays 16 games concurrently.
class Player {
 public:
  virtual ~Player() = default;
  // Called at the start of the table. The response may set the number of games that the bot plays
  // concurrently. The default is 1; set more if the bot keeps its memory by `turn.game()`.
  virtual v1::StartResponse start(const v1::StartRequest&) { return {}; }
  // Answers one question.
  virtual Move act(const Turn& turn, Random& random) = 0;
  // Called at the end of the table.
  virtual void end(const v1::EndRequest&) {}
};

// Serves a bot at POKEARENA_ADDRESS until the arena ends it (SIGTERM).
[[noreturn]] void run(Player& bot);
[[noreturn]] void run(Choose choose);

}  // namespace pokearena
