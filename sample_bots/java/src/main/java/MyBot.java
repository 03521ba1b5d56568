import java.util.Random;
import pokearena.Kit;
import pokearena.Move;
import pokearena.v1.Bot.ActRequest;

/** My bot. Edit choose(). To watch it: `pokearena play poke . sample:random --watch` */
class MyBot {
    /** Answers one question with one of the legal actions, the least risky first. */
    static Move choose(ActRequest turn, Random random) {
        return new Move(turn.getLegal(random.nextInt(turn.getLegalCount())));
    }

    public static void main(String[] args) throws Exception {
        Kit.run(MyBot::choose);
    }
}
