"""The games. Each docstring is the rules page in short; OpenSpiel has the details."""

from openspiel_games import knowledge
from openspiel_games.adapter import OpenSpielGame, PartnershipGame, Rules
from openspiel_games.worlds import Tricks, few_outcomes


class KuhnPoker(OpenSpielGame):
    """Kuhn poker: three cards, one for each seat, and one bet.

    Both seats pay 1. A seat passes or bets 1. Passing after a bet gives up. The higher card wins.
    """

    id = "kuhn_poker"
    title = "Kuhn poker"
    seats = (2,)
    rules = Rules("kuhn_poker", knowledge.first_two, few_outcomes)


class LeducPoker(OpenSpielGame):
    """Leduc poker: six cards in three ranks, two rounds of bets, and one public card.

    Each seat has a card. After the first round a public card is turned up. A pair with it wins,
    otherwise the higher card.
    """

    id = "leduc_poker"
    title = "Leduc poker"
    seats = (2,)
    rules = Rules("leduc_poker", knowledge.first_two, few_outcomes)


class LiarsDice(OpenSpielGame):
    """Liar's dice: each seat has a hidden die.

    Bids rise: "2-5" claims two dice with a five; a six counts as any number. A seat calls the last
    bid a lie. The claim wins if it is true.
    """

    id = "liars_dice"
    title = "Liar's dice"
    seats = (2,)
    rules = Rules("liars_dice", knowledge.first_two, few_outcomes)


class GinRummy(OpenSpielGame):
    """Gin rummy: draw and discard to form sets and runs, and knock with at most 10 points left.

    A seat draws the stock or the card that is up, and discards. The difference of the cards outside
    of sets and runs is the score.
    """

    id = "gin_rummy"
    title = "Gin rummy"
    seats = (2,)
    redeals = False
    rules = Rules("gin_rummy", knowledge.gin_rummy)


class Hearts(OpenSpielGame):
    """Hearts: avoid hearts and the queen of spades in tricks.

    Three cards are passed before the first trick. The score is 26 minus the points taken.
    """

    id = "hearts"
    title = "Hearts"
    seats = (4,)
    redeals = False
    rules = Rules("hearts", knowledge.hearts)


class Spades(PartnershipGame):
    """Spades: partners bid the number of their tricks; spades are trumps.

    A made bid scores 10 for each trick, a failed one costs as much.
    """

    id = "spades"
    title = "Spades"
    seats = (4,)
    rules = Rules("spades", knowledge.four_hands, Tricks(lambda card: card // 13))


class Euchre(PartnershipGame):
    """Euchre: partners play five tricks of 24 cards; the jacks of the trump colour are highest.

    The side that names trumps needs three tricks. A seat may play alone.
    """

    id = "euchre"
    title = "Euchre"
    seats = (4,)
    redeals = False
    rules = Rules("euchre", knowledge.euchre)


class Cribbage(OpenSpielGame):
    """Cribbage: pairs, runs and fifteens, in the play and in the hands, up to 121 points.

    Each seat puts two of six cards into the crib, which counts for the dealer.
    """

    id = "cribbage"
    title = "Cribbage"
    seats = (2,)
    redeals = False
    rules = Rules("cribbage(winner_bonus_reward=0.0)", knowledge.cribbage)


class Bridge(PartnershipGame):
    """Bridge: partners bid a contract and play 13 tricks; the dummy's hand is open.

    The score is that of duplicate bridge, nobody vulnerable. The declarer plays the dummy's cards.
    """

    id = "bridge"
    title = "Bridge"
    seats = (4,)
    rules = Rules(
        "bridge(use_double_dummy_result=false)", knowledge.bridge, Tricks(lambda card: card % 4)
    )


class TicTacToe(OpenSpielGame):
    """Tic-tac-toe: three marks in a line win. A game starts with two random marks."""

    id = "tic_tac_toe"
    title = "Tic-tac-toe"
    seats = (2,)
    opening_actions = 2
    rules = Rules("tic_tac_toe")


class ConnectFour(OpenSpielGame):
    """Connect four: four pieces in a line win. A game starts with four random pieces."""

    id = "connect_four"
    title = "Connect four"
    seats = (2,)
    opening_actions = 4
    rules = Rules("connect_four")


class Breakthrough(OpenSpielGame):
    """Breakthrough: the first piece on the last row wins. A game starts with four random moves.

    Pieces move forward straight or diagonally and capture diagonally.
    """

    id = "breakthrough"
    title = "Breakthrough"
    seats = (2,)
    opening_actions = 4
    rules = Rules("breakthrough")
