package pokearena;

import java.util.Random;
import pokearena.v1.Bot.ActRequest;
import pokearena.v1.Bot.EndRequest;
import pokearena.v1.Bot.StartRequest;
import pokearena.v1.Bot.StartResponse;

/** A bot with memory. A bot without memory is a function: {@link Kit.Choose}. */
public abstract class Player {
    /**
     * Called at the start of the table. The response may set the number of games that the bot plays
     * concurrently. The default is 1; set more if it keeps its memory by {@code turn.getGame()}.
     */
    public StartResponse start(StartRequest request) throws Exception {
        return StartResponse.getDefaultInstance();
    }

    /** Answers one question. */
    public abstract Move act(ActRequest turn, Random random) throws Exception;

    /** Called at the end of the table. */
    public void end(EndRequest request) throws Exception {}
}
