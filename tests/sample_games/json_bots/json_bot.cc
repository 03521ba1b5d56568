#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdlib>

#include "pokearena_bot.h"

using google::protobuf::Struct;

// Returns the fields of a JSON object.
Struct read(const std::string& json) {
  Struct object;
  if (!google::protobuf::util::JsonStringToMessage(json, &object).ok()) std::abort();
  return object;
}

int rank(const std::string& card) { return card[0] - '0'; }

// Bids the card that is nearest to the prize.
pokearena::Move choose(const pokearena::Turn& turn, pokearena::Random&) {
  const Struct view = read(turn.view().generic().json());
  int prize = 0;
  for (const auto& card : view.fields().at("prizes").list_value().values())
    prize += rank(card.string_value());
  std::string best;
  for (const auto& action : turn.legal()) {
    const Struct bid = read(action.generic().json()).fields().at("bid").struct_value();
    const std::string card = bid.fields().at("card").string_value();
    if (best.empty() || std::abs(rank(card) - prize) < std::abs(rank(best) - prize)) best = card;
  }
  pokearena::v1::Action action;
  action.mutable_generic()->set_game("goofspiel");
  action.mutable_generic()->set_json("{\"bid\": {\"card\": \"" + best + "\"}}");
  return {action, "typed"};
}

int main() { pokearena::run(choose); }
