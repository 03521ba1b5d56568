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

/** A bot for Poke that rates every legal action and chooses the best. */
class Greedy {
    /** Returns the best action; chance decides between equal ones. */
    static Move choose(ActRequest turn, Random random) {
        List<Action> legal = new ArrayList<>(turn.getLegalList());
        Collections.shuffle(legal, random);
        PokeView view = turn.getView().getPoke();
        Comparator<Action> byWorth =
                Comparator.comparingInt(action -> worth(action.getPoke(), view, turn.getSeat()));
        return new Move(Collections.max(legal, byWorth));
    }

    /** Rates an action of the seat that sees this view; 0 is to do nothing. */
    static int worth(PokeAction move, PokeView view, int seat) {
        return switch (move.getActionCase()) {
            case DRAW -> draw(move.getDraw().getDiscardsList(), view, seat);
            case LEAD -> lead(move.getLead().getCardsList());
            case ANSWER -> answer(move.getAnswer().getCardsList(), view);
            default -> 0;
        };
    }

    /** Rates a draw: low single cards, and only in the dealer's first draw, which is free. */
    static int draw(List<String> cards, PokeView view, int seat) {
        boolean isFree = view.getDealer() == seat
                && view.getDrawnList().stream().noneMatch(drawn -> drawn.getSeat() == seat);
        boolean isLoose = cards.stream().allMatch(card -> held(view, card) == 1);
        return isFree && isLoose ? cards.stream().mapToInt(c -> rank("Q") - rank(c)).sum() : -1;
    }

    /** Rates a lead: groups and high cards are hard to beat. */
    static int lead(List<String> cards) {
        return 20 * cards.size() + rank(cards.get(0));
    }

    /** Rates an answer: the cheapest winning one, otherwise the cheapest cards. */
    static int answer(List<String> cards, PokeView view) {
        int first = rank(cards.get(0));
        boolean wins = first > rank(view.getLead(0))
                && cards.stream().allMatch(card -> rank(card) == first);
        int price = cards.stream().mapToInt(c -> rank(c) + 20 * (held(view, c) - 1)).sum();
        return (wins ? 1000 : 0) - price;
    }

    /** Counts the cards in hand with the rank of this card. */
    static int held(PokeView view, String card) {
        return (int) view.getHandList().stream().filter(c -> rank(c) == rank(card)).count();
    }

    /** Returns 0 for a two to 12 for an ace. */
    static int rank(String card) {
        return "23456789TJQKA".indexOf(card.charAt(0));
    }

    public static void main(String[] args) throws Exception {
        Kit.run(Greedy::choose);
    }
}
