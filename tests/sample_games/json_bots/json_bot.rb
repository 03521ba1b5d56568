require "json"
require_relative "pokearena_bot"

# Bids the card that is nearest to the prize.
PokearenaBot.run do |turn, _|
  prize = JSON.parse(turn.view.generic.json)["prizes"].sum { |card| card[0].to_i }
  bids = turn.legal.map { |action| JSON.parse(action.generic.json) }
  best = bids.min_by { |each| (each["bid"]["card"][0].to_i - prize).abs }
  generic = Pokearena::V1::GenericAction.new(game: "goofspiel", json: best.to_json)
  [Pokearena::V1::Action.new(generic: generic), "typed"]
end
