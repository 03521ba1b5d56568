import java.util.Comparator;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import pokearena.Kit;
import pokearena.Move;
import pokearena.v1.Bot.ActRequest;
import pokearena.v1.Bot.Action;
import pokearena.v1.Bot.GenericAction;

/** Bids the card that is nearest to the prize. */
class JsonBot {
    private static final Pattern PRIZES = Pattern.compile("\"prizes\":\\[([^\\]]*)\\]");
    private static final Pattern CARD = Pattern.compile("\"([2-9])[SHDC]\"");

    static Move choose(ActRequest turn, Random random) {
        String view = turn.getView().getGeneric().getJson();
        int prize = PRIZES.matcher(view).results()
            .flatMap(prizes -> cards(prizes.group(1))).mapToInt(JsonBot::rank).sum();
        String best = turn.getLegalList().stream()
            .flatMap(action -> cards(action.getGeneric().getJson()))
            .min(Comparator.comparingInt(card -> Math.abs(rank(card) - prize)))
            .orElseThrow().group();
        String json = "{\"bid\": {\"card\": " + best + "}}";
        GenericAction generic =
            GenericAction.newBuilder().setGame("goofspiel").setJson(json).build();
        return new Move(Action.newBuilder().setGeneric(generic).build(), "typed");
    }

    private static Stream<MatchResult> cards(String json) {
        return CARD.matcher(json).results();
    }

    private static int rank(MatchResult card) {
        return Integer.parseInt(card.group(1));
    }

    public static void main(String[] args) throws Exception {
        Kit.run(JsonBot::choose);
    }
}
