package pokearena;

import io.grpc.stub.StreamObserver;
import java.util.Random;
import java.util.concurrent.Callable;
import pokearena.v1.Bot.ActRequest;
import pokearena.v1.Bot.ActResponse;
import pokearena.v1.Bot.EndRequest;
import pokearena.v1.Bot.EndResponse;
import pokearena.v1.Bot.PlayRequest;
import pokearena.v1.Bot.PlayResponse;
import pokearena.v1.Bot.StartRequest;
import pokearena.v1.Bot.StartResponse;
import pokearena.v1.BotServiceGrpc.BotServiceImplBase;

/** Implements BotService. The author's code runs in one thread at a time. */
final class BotService extends BotServiceImplBase {
    private final Player bot;

    BotService(Player bot) {
        this.bot = bot;
    }

    @Override
    public void start(StartRequest request, StreamObserver<StartResponse> caller) {
        reply(caller, safely(() -> bot.start(request)));
    }

    @Override
    public void act(ActRequest turn, StreamObserver<ActResponse> caller) {
        reply(caller, answer(turn));
    }

    @Override
    public StreamObserver<PlayRequest> play(StreamObserver<PlayResponse> caller) {
        return new StreamObserver<>() {
            @Override
            public void onNext(PlayRequest request) {
                PlayResponse.Builder response = PlayResponse.newBuilder();
                request.getQuestionsList().forEach(turn -> response.addAnswers(answer(turn)));
                caller.onNext(response.build());
            }

            @Override
            public void onError(Throwable gone) {}

            @Override
            public void onCompleted() {
                caller.onCompleted();
            }
        };
    }

    @Override
    public void end(EndRequest request, StreamObserver<EndResponse> caller) {
        safely(() -> {
            bot.end(request);
            return null;
        });
        reply(caller, EndResponse.getDefaultInstance());
    }

    private ActResponse answer(ActRequest turn) {
        return safely(() -> {
            Move move = bot.act(turn, new Random(turn.getLuck()));
            ActResponse.Builder response = ActResponse.newBuilder()
                    .setGame(turn.getGame())
                    .setDecision(turn.getDecision())
                    .setAttempt(turn.getAttempt())
                    .setNote(move.note())
                    .setText(move.text());
            if (move.text().isEmpty()) {
                response.setAction(move.action());
            }
            return response.build();
        });
    }

    private static <T> void reply(StreamObserver<T> caller, T response) {
        caller.onNext(response);
        caller.onCompleted();
    }

    /** Runs the author's code; an exception in it ends the process. */
    private synchronized <T> T safely(Callable<T> author) {
        try {
            return author.call();
        } catch (Throwable error) {
            error.printStackTrace();
            Kit.leave(1);
            throw new AssertionError(error);
        }
    }
}
