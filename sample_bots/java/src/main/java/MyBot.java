import java.util.Random;
import pokearena.Kit;
import pokearena.Move;
import pokearena.v1.Bot.ActRequest;

/** My bot. Edit choose(); `pokearena play poke . sample:random --watch` shows it playing. */
class MyBot {
    /** Answers one question: one of the legal actions, the most harmless first. */
    static Move choose(ActRequest turn, Random random) {
        return new Move(turn.getLegal(random.nextInt(turn.getLegalCount())));
    }

    public static void main(String[] args) throws Exception {
        Kit.run(MyBot::choose);
    }
}
