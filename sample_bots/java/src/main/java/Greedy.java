import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.ArrayList;
import java.util.Random;
import pokearena.Kit;
import pokearena.Move;
import pokearena.v1.Bot.ActRequest;
import pokearena.v1.Bot.Action;
import pokearena.v1.Poke.PokeAction;
import pokearena.v1.Poke.PokeView;

/** A bot for Poke that gives every legal action a worth and takes the best. */
class Greedy {
    /** The action worth most; chance decides between equals. */
    static Move choose(ActRequest turn, Random random) {
        List<Action> legal = new ArrayList<>(turn.getLegalList());
        Collections.shuffle(legal, random);
        PokeView view = turn.getView().getPoke();
        Comparator<Action> byWorth =
                Comparator.comparingInt(action -> worth(action.getPoke(), view, turn.getSeat()));
        return new Move(Collections.max(legal, byWorth));
    }

    /** What an action is worth to the seat that sees this; 0 is to do nothing. */
    static int worth(PokeAction move, PokeView view, int seat) {
        return switch (move.getActionCase()) {
            case DRAW -> draw(move.getDraw().getDiscardsList(), view, seat);
            case LEAD -> lead(move.getLead().getCardsList());
            case ANSWER -> answer(move.getAnswer().getCardsList(), view);
            default -> 0;
        };
    }

    /** Low cards that belong to no group, if that costs nothing: only the dealer's first draw. */
    static int draw(List<String> cards, PokeView view, int seat) {
        boolean isFree = view.getDealer() == seat
                && view.getDrawnList().stream().noneMatch(drawn -> drawn.getSeat() == seat);
        boolean isLoose = cards.stream().allMatch(card -> held(view, card) == 1);
        return isFree && isLoose ? cards.stream().mapToInt(c -> rank("Q") - rank(c)).sum() : -1;
    }

    /** Several of a rank are hard to beat, and high cards are. */
    static int lead(List<String> cards) {
        return 20 * cards.size() + rank(cards.get(0));
    }

    /** Wins as cheaply as possible, or throws the cheapest away. */
    static int answer(List<String> cards, PokeView view) {
        int first = rank(cards.get(0));
        boolean wins = first > rank(view.getLead(0))
                && cards.stream().allMatch(card -> rank(card) == first);
        int price = cards.stream().mapToInt(c -> rank(c) + 20 * (held(view, c) - 1)).sum();
        return (wins ? 1000 : 0) - price;
    }

    /** How many cards of this one's rank the hand holds. */
    static int held(PokeView view, String card) {
        return (int) view.getHandList().stream().filter(c -> rank(c) == rank(card)).count();
    }

    /** 0 for a two to 12 for an ace. */
    static int rank(String card) {
        return "23456789TJQKA".indexOf(card.charAt(0));
    }

    public static void main(String[] args) throws Exception {
        Kit.run(Greedy::choose);
    }
}
