# The Ruby kit: implements the protocol for bots.
#
# A complete bot:
#
#     require_relative "pokearena_bot"
#     PokearenaBot.run { |turn, random| turn.legal.to_a.sample(random: random) }
#
# `turn` is a question, the message ActRequest of proto/pokearena/v1/bot.proto. `turn.view.poke` (or
# that of another game) is everything your seat sees. `turn.legal` contains the legal actions, the
# least risky first. Return one of them, or any other legal Action, or `[action, "a note"]`: the
# replay shows the note beside the action.
#
# A bot with memory is an object with the method `act(turn, random)`. It may also have
# `start(request)` (the table begins; it may return a StartResponse) and `finish(request)` (the
# table is over):
#
#     PokearenaBot.run(Mine.new)
#
# If its StartResponse has `with_text: true`, `turn.text` is the question as plain text, and the
# answer may be a String: the number of a listed action, or the action in words.
#
# `random` is seeded with `turn.luck`, so the same question always gets the same answer. `rand` and
# `shuffle` without it use the same seed.
#
# Your code answers one question at a time, in a thread that is not the main thread. `pokearena
# logs` prints the bot's output. An exception ends the process, and its trace is the end of that
# output.

$LOAD_PATH.unshift(File.join(__dir__, "target"))
begin
  require "pokearena/v1/bot_services_pb"
rescue LoadError => error
  abort("#{error.message}: first run the \"build\" commands of bot.toml, as `pokearena play` does.")
end

module PokearenaBot
  V1 = Pokearena::V1

  # Number of games that a block plays concurrently: it has no memory.
  GAMES_IN_FLIGHT = 16
  # Number of calls served concurrently; a table needs two.
  CALLS = 8
  LARGEST_MESSAGE = 64 << 20

  # Serves a bot at POKEARENA_ADDRESS until the arena ends it (SIGTERM).
  #
  # games_in_flight: the number of games that the bot plays concurrently; by default 1 for an object
  # and 16 for a block. Set more for an object that keeps its memory by `turn.game`, and 1 for a
  # block with memory.
  def self.run(bot = nil, games_in_flight: bot ? 1 : GAMES_IN_FLIGHT, &block)
    address = ENV.fetch("POKEARENA_ADDRESS", "")
    if address.empty?
      abort("This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.\n" \
            "To watch it play:  pokearena play poke . sample:random --watch")
    end
    $stdout.sync = true
    %w[TERM INT].each { |signal| trap(signal) { exit!(0) } }
    options = { "grpc.max_receive_message_length" => LARGEST_MESSAGE, "grpc.so_reuseport" => 0 }
    server = GRPC::RpcServer.new(pool_size: CALLS, server_args: options)
    server.add_http2_port(address, :this_port_is_insecure)
    server.handle(Service.new(bot, block, games_in_flight))
    server.run
  end

  # Implements BotService. The author's code runs in one thread at a time.
  class Service < V1::BotService::Service
    def initialize(bot, block, games_in_flight)
      super()
      @bot = bot
      @choose = block || bot.method(:act)
      @games_in_flight = games_in_flight
      @turn = Mutex.new
    end

    def start(request, _call)
      result = notify(:start, request)
      response = result.is_a?(V1::StartResponse) ? result : V1::StartResponse.new
      response.games_in_flight = @games_in_flight if response.games_in_flight.zero?
      response
    end

    def end(request, _call)
      notify(:finish, request)
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
      unless action.is_a?(V1::Action) || action.is_a?(String)
        raise TypeError, "return one of turn.legal, another Action, or [action, \"a note\"], " \
                         "not #{action.class}"
      end
      answer = action.is_a?(String) ? { text: action } : { action: action }
      V1::ActResponse.new(
        game: turn.game, decision: turn.decision, attempt: turn.attempt, note: note || "", **answer
      )
    end

    # Calls `start` or `finish` and returns the result; nil if the bot does not have the method.
    def notify(method, request)
      safely { @bot.public_send(method, request) } if @bot.respond_to?(method)
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
