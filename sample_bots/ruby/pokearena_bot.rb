# The Ruby kit: all a bot needs besides an idea.
#
# A whole bot:
#
#     require_relative "pokearena_bot"
#     PokearenaBot.run { |turn, random| turn.legal.to_a.sample(random: random) }
#
# `turn` is the question, the message ActRequest of proto/pokearena/v1/bot.proto: what you see is
# `turn.view.poke` (or another game's), what you may do is `turn.legal`, the most harmless first.
# Give back one of them, or any other legal Action, or `[action, "a note"]`: the replay shows the
# note beside the move.
#
# A bot that remembers is an object with the method `act(turn, random)` and, if it wants them,
# `start(request)` (what will be played; it may give back a StartResponse) and `finish(request)`
# (the table is over):
#
#     PokearenaBot.run(Mine.new)
#
# `random` is seeded with `turn.luck`, so the same question gets the same answer whenever it is
# asked; `rand` and `shuffle` without it draw from the same luck.
#
# Your code answers one question at a time, in a thread that is not the main one. What the bot
# prints is kept (`pokearena logs`). An exception ends the process: its trace is the last thing
# in that output.

$LOAD_PATH.unshift(File.join(__dir__, "target"))
begin
  require "pokearena/v1/bot_services_pb"
rescue LoadError => error
  abort("#{error.message}: first run what bot.toml has under \"build\", as `pokearena play` does.")
end

module PokearenaBot
  V1 = Pokearena::V1

  # How many games at once a plain block is asked about: it remembers nothing between them.
  GAMES_IN_FLIGHT = 16
  # How many calls are served at the same time; a table needs two.
  CALLS = 8
  LARGEST_MESSAGE = 64 << 20

  # Serves a bot where the arena expects it, until the arena ends it (SIGTERM).
  #
  # games_in_flight: how many games of a table it takes at the same time; an object takes 1 unless
  # you say otherwise. Give it more if it keeps what it remembers by `turn.game`; a block 1 if it
  # has a memory after all.
  def self.run(bot = nil, games_in_flight: bot ? 1 : GAMES_IN_FLIGHT, &block)
    address = ENV.fetch("POKEARENA_ADDRESS", "")
    if address.empty?
      abort("This is a bot; the arena starts it and says where it has to listen.\n" \
            "To see it play:  pokearena play poke . sample:random --watch")
    end
    $stdout.sync = true
    %w[TERM INT].each { |signal| trap(signal) { exit!(0) } }
    options = { "grpc.max_receive_message_length" => LARGEST_MESSAGE, "grpc.so_reuseport" => 0 }
    server = GRPC::RpcServer.new(pool_size: CALLS, server_args: options)
    server.add_http2_port(address, :this_port_is_insecure)
    server.handle(Service.new(bot, block, games_in_flight))
    server.run
  end

  # The bot as the referee asks it. The author's code runs in one thread at a time.
  class Service < V1::BotService::Service
    def initialize(bot, block, games_in_flight)
      super()
      @bot = bot
      @choose = block || bot.method(:act)
      @games_in_flight = games_in_flight
      @turn = Mutex.new
    end

    def start(request, _call)
      said = tell(:start, request)
      response = said.is_a?(V1::StartResponse) ? said : V1::StartResponse.new
      response.games_in_flight = @games_in_flight if response.games_in_flight.zero?
      response
    end

    def end(request, _call)
      tell(:finish, request)
      V1::EndResponse.new
    end

    def act(turn, _call)
      safely { answer(turn) }
    end

    def play(requests, _call)
      Enumerator.new do |answers|
        requests.each do |request|
          answers << safely do
            V1::PlayResponse.new(answers: request.questions.map { |turn| answer(turn) })
          end
        end
      end
    end

    private

    def answer(turn)
      srand(turn.luck)
      action, note = @choose.call(turn, Random.new(turn.luck))
      unless action.is_a?(V1::Action)
        raise TypeError, "an answer is one of turn.legal, another Action, or [action, \"a note\"]; " \
                         "it was of type #{action.class}"
      end
      V1::ActResponse.new(game: turn.game, decision: turn.decision, action: action, note: note || "")
    end

    # What the bot says to `start` or `finish`; nil if it does not listen.
    def tell(what, request)
      safely { @bot.public_send(what, request) } if @bot.respond_to?(what)
    end

    # Runs the author's code; an exception in it, `exit` included, ends the process.
    def safely
      @turn.synchronize { yield }
    rescue Exception => error # rubocop:disable Lint/RescueException
      warn(error.full_message(highlight: false, order: :top))
      exit!(1)
    end
  end
end
