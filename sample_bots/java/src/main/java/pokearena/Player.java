package pokearena;

import java.util.Random;
import pokearena.v1.Bot.ActRequest;
import pokearena.v1.Bot.EndRequest;
import pokearena.v1.Bot.StartRequest;
import pokearena.v1.Bot.StartResponse;

/** A bot that remembers. One that does not is a function: {@link Kit.Choose}. */
public abstract class Player {
    /**
     * What will be played; the response may say how many games are taken at the same time. That is
     * 1 unless the bot keeps what it remembers by {@code turn.getGame()}.
     */
    public StartResponse start(StartRequest request) throws Exception {
        return StartResponse.getDefaultInstance();
    }

    /** Answers one question. */
    public abstract Move act(ActRequest turn, Random random) throws Exception;

    /** The table is over. */
    public void end(EndRequest request) throws Exception {}
}
