package pokearena;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;
import pokearena.v1.Bot.ActRequest;
import pokearena.v1.Bot.StartRequest;
import pokearena.v1.Bot.StartResponse;

/**
 * The Java kit: implements the protocol for bots. A complete bot is
 *
 * <pre>
 * Kit.run((turn, random) -> new Move(turn.getLegal(random.nextInt(turn.getLegalCount()))));
 * </pre>
 *
 * {@code turn} is a question, the message ActRequest of proto/pokearena/v1/bot.proto.
 * {@code turn.getView().getPoke()} (or that of another game) is everything your seat sees.
 * {@code turn.getLegalList()} contains the legal actions, the least risky first. Return one of
 * them, or any other legal Action, with an optional note.
 *
 * <p>{@code random} is seeded with {@code turn.getLuck()}, so the same question always gets the
 * same answer. Do not use other sources of random numbers.
 *
 * <p>Your code answers one question at a time, in a thread that is not the main thread.
 * {@code pokearena logs} prints the bot's output. An exception ends the process, and its trace is
 * the end of that output.
 */
public final class Kit {
    /** Number of games that a function plays concurrently: it has no memory. */
    private static final int GAMES_IN_FLIGHT = 16;
    private static final int LARGEST_MESSAGE = 64 << 20;

    /** Warns of options that unix sockets lack, and of no network; kept, or its level is lost. */
    private static final Logger NETTY = Logger.getLogger("io.grpc.netty.shaded.io.netty");

    private Kit() {}

    /** A bot without memory: a function of one question. */
    @FunctionalInterface
    public interface Choose {
        Move choose(ActRequest turn, Random random) throws Exception;
    }

    /** Serves a function; see {@link #run(Player)}. */
    public static void run(Choose bot) throws Exception {
        run(new Player() {
            @Override
            public StartResponse start(StartRequest request) {
                return StartResponse.newBuilder().setGamesInFlight(GAMES_IN_FLIGHT).build();
            }

            @Override
            public Move act(ActRequest turn, Random random) throws Exception {
                return bot.choose(turn, random);
            }
        });
    }

    /** Serves a bot at POKEARENA_ADDRESS until the arena ends it (SIGTERM). */
    public static void run(Player bot) throws Exception {
        String address = System.getenv("POKEARENA_ADDRESS");
        if (address == null || address.isEmpty()) {
            System.err.println("This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.");
            System.err.println("To watch it play:  pokearena play poke . sample:random --watch");
            System.exit(1);
        }
        NETTY.setLevel(Level.SEVERE);
        // gRPC unpacks a library to the folder for temporary files, which Java sets to /tmp.
        String scratch = System.getenv("TMPDIR");
        if (scratch != null) {
            System.setProperty("java.io.tmpdir", scratch);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> leave(0)));
        Server server = listeningAt(address)
                .addService(new BotService(bot))
                .maxInboundMessageSize(LARGEST_MESSAGE)
                .executor(Executors.newCachedThreadPool())
                .build();
        server.start().awaitTermination();
    }

    private static NettyServerBuilder listeningAt(String address) {
        if (!address.startsWith("unix:")) {
            int colon = address.lastIndexOf(':');
            String host = address.substring(0, colon).replaceAll("[\\[\\]]", "");
            int port = Integer.parseInt(address.substring(colon + 1));
            return NettyServerBuilder.forAddress(new InetSocketAddress(host, port));
        }
        String path = address.substring("unix:".length()).replaceFirst("^//", "");
        return NettyServerBuilder.forAddress(new DomainSocketAddress(path))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(new EpollEventLoopGroup(1))
                .workerEventLoopGroup(new EpollEventLoopGroup(1));
    }

    /** Ends the process at once, without waiting for running calls. */
    static void leave(int status) {
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(status);
    }
}
