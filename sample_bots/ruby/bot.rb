# My bot: edit the block. To watch it: `pokearena play poke . sample:random --watch`
require_relative "pokearena_bot"

# Answers one question with one of turn.legal, the least risky first.
PokearenaBot.run do |turn, random|
  turn.legal.to_a.sample(random: random)
end
