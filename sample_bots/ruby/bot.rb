# My bot: edit the block. `pokearena play poke . sample:random --watch` shows it playing.
require_relative "pokearena_bot"

# Answers one question: one of turn.legal, the most harmless first.
PokearenaBot.run do |turn, random|
  turn.legal.to_a.sample(random: random)
end
