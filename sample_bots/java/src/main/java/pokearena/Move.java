package pokearena;

import pokearena.v1.Bot.Action;

/**
 * An action with an optional note, which the replay shows beside the action. The text is empty, or
 * the action in words; then the action is null.
 */
public record Move(Action action, String note, String text) {
    public Move(Action action, String note) {
        this(action, note, "");
    }

    public Move(Action action) {
        this(action, "");
    }

    /**
     * Returns a move in words: the number of an action in {@code turn.getText()}, or the action as
     * it is written there. That is the question as plain text, if the response of
     * {@link Player#start} has set {@code with_text}.
     */
    public static Move inWords(String text) {
        return new Move(null, "", text);
    }
}
