package pokearena

import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress
import io.grpc.stub.StreamObserver
import java.net.InetSocketAddress
import java.util.concurrent.Executors
import java.util.logging.Level
import java.util.logging.Logger
import kotlin.concurrent.thread
import kotlin.random.Random
import kotlin.system.exitProcess
import pokearena.v1.Bot.ActRequest
import pokearena.v1.Bot.ActRequestOrBuilder
import pokearena.v1.Bot.ActResponse
import pokearena.v1.Bot.Action
import pokearena.v1.Bot.EndRequest
import pokearena.v1.Bot.EndResponse
import pokearena.v1.Bot.PlayRequest
import pokearena.v1.Bot.PlayResponse
import pokearena.v1.Bot.StartRequest
import pokearena.v1.Bot.StartResponse
import pokearena.v1.BotServiceGrpc.BotServiceImplBase

/*
 * The Kotlin kit: implements the protocol for bots. A complete bot is
 *
 *     fun main() = run { turn -> Move(turn.legalList.random(turn.random)) }
 *
 * `turn` is a question, the message ActRequest of proto/pokearena/v1/bot.proto. `turn.view.poke` (or
 * that of another game) is everything your seat sees. `turn.legalList` contains the legal actions,
 * the least risky first. Return one of them, or any other legal Action, with an optional note.
 *
 * `turn.random` is seeded with `turn.luck`, so the same question always gets the same answer. Do not
 * use other sources of random numbers.
 *
 * A bot with memory is a `Player`. Your code answers one question at a time, in a thread that is not
 * the main thread. `pokearena logs` prints the bot's output. An exception ends the process, and its
 * trace is the end of that output.
 */

/** A question with random numbers whose seed depends on the question only. */
class Turn(val question: ActRequest) : ActRequestOrBuilder by question {
    val random = Random(question.luck)
}

/**
 * An action with an optional note, which the replay shows beside the action. The text is empty, or
 * the action in words; then the action is null.
 */
data class Move(val action: Action?, val note: String = "", val text: String = "") {
    companion object {
        /**
         * Returns a move in words: the number of an action in `turn.text`, or the action as it is
         * written there. `turn.text` is the question as plain text, if the response of
         * [Player.start] has set `with_text`.
         */
        fun inWords(text: String) = Move(null, text = text)
    }
}

/** A bot with memory. A bot without memory is a function: see [run]. */
interface Player {
    /**
     * Called at the start of the table. The response may set the number of games that the bot plays
     * concurrently. The default is 1; set more if it keeps its memory by `turn.game`.
     */
    fun start(request: StartRequest): StartResponse = StartResponse.getDefaultInstance()

    /** Answers one question. */
    fun act(turn: Turn): Move

    /** Called at the end of the table. */
    fun end(request: EndRequest) {}
}

/** Number of games that a function plays concurrently: it has no memory. */
const val GAMES_IN_FLIGHT = 16

private const val LARGEST_MESSAGE = 64 shl 20

/** Warns of options that unix sockets lack, and of no network; kept, or its level is lost. */
private val netty = Logger.getLogger("io.grpc.netty.shaded.io.netty")

/** Serves a function of one question; see [run]. */
fun run(choose: (Turn) -> Move) =
    run(
        object : Player {
            override fun start(request: StartRequest): StartResponse =
                StartResponse.newBuilder().setGamesInFlight(GAMES_IN_FLIGHT).build()

            override fun act(turn: Turn) = choose(turn)
        }
    )

/** Serves a bot at POKEARENA_ADDRESS until the arena ends it (SIGTERM). */
fun run(bot: Player) {
    val address = System.getenv("POKEARENA_ADDRESS")
    if (address.isNullOrEmpty()) {
        System.err.println("This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.")
        System.err.println("To watch it play:  pokearena play poke . sample:random --watch")
        exitProcess(1)
    }
    netty.level = Level.SEVERE
    // gRPC unpacks a library to the folder for temporary files, which Java sets to /tmp.
    System.getenv("TMPDIR")?.let { System.setProperty("java.io.tmpdir", it) }
    Runtime.getRuntime().addShutdownHook(thread(start = false) { leave(0) })
    listeningAt(address)
        .addService(BotService(bot))
        .maxInboundMessageSize(LARGEST_MESSAGE)
        .executor(Executors.newCachedThreadPool())
        .build()
        .start()
        .awaitTermination()
}

private fun listeningAt(address: String): NettyServerBuilder {
    if (!address.startsWith("unix:")) {
        val host = address.substringBeforeLast(':').trim('[', ']')
        return NettyServerBuilder.forAddress(
            InetSocketAddress(host, address.substringAfterLast(':').toInt())
        )
    }
    val path = address.removePrefix("unix:").removePrefix("//")
    return NettyServerBuilder.forAddress(DomainSocketAddress(path))
        .channelType(EpollServerDomainSocketChannel::class.java)
        .bossEventLoopGroup(EpollEventLoopGroup(1))
        .workerEventLoopGroup(EpollEventLoopGroup(1))
}

/** Ends the process at once, without waiting for running calls. */
private fun leave(status: Int) {
    System.out.flush()
    System.err.flush()
    Runtime.getRuntime().halt(status)
}

/** Implements BotService. The author's code runs in one thread at a time. */
private class BotService(private val bot: Player) : BotServiceImplBase() {
    override fun start(request: StartRequest, caller: StreamObserver<StartResponse>) =
        reply(caller, safely { bot.start(request) })

    override fun act(request: ActRequest, caller: StreamObserver<ActResponse>) =
        reply(caller, answer(request))

    override fun play(caller: StreamObserver<PlayResponse>) =
        object : StreamObserver<PlayRequest> {
            override fun onNext(request: PlayRequest) =
                caller.onNext(
                    PlayResponse.newBuilder()
                        .addAllAnswers(request.questionsList.map { answer(it) })
                        .build()
                )

            override fun onError(gone: Throwable) {}

            override fun onCompleted() = caller.onCompleted()
        }

    override fun end(request: EndRequest, caller: StreamObserver<EndResponse>) {
        safely { bot.end(request) }
        reply(caller, EndResponse.getDefaultInstance())
    }

    private fun answer(question: ActRequest): ActResponse = safely {
        val move = bot.act(Turn(question))
        ActResponse.newBuilder()
            .setGame(question.game)
            .setDecision(question.decision)
            .setAttempt(question.attempt)
            .setNote(move.note)
            .setText(move.text)
            .apply { move.action?.let { setAction(it) } }
            .build()
    }

    private fun <Response> reply(caller: StreamObserver<Response>, response: Response) {
        caller.onNext(response)
        caller.onCompleted()
    }

    /** Runs the author's code; an exception in it ends the process. */
    @Synchronized
    private fun <Result> safely(author: () -> Result): Result =
        try {
            author()
        } catch (error: Throwable) {
            error.printStackTrace()
            leave(1)
            throw error
        }
}
