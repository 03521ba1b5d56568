//! A bot that plays Saint Poker by rules of thumb: it rates every legal action and chooses the
//! best.

use kit::messages::saint_poker_action::Action as Does;
use kit::messages::{action, SaintPokerView};
use kit::{Action, Game, Turn};

/// A rating, compared number by number; larger is better.
type Mark = Vec<usize>;

const RANKS: &str = "23456789TJQKA";

fn choose(turn: &Turn) -> Action {
    let Game::SaintPoker(view) = turn.game_view() else {
        panic!("this bot plays Saint Poker only");
    };
    let best = turn.legal.iter().max_by_key(|action| mark(view, action));
    best.unwrap().clone()
}

fn mark(view: &SaintPokerView, action: &Action) -> Mark {
    let Some(action::Game::SaintPoker(action)) = &action.game else {
        return vec![];
    };
    match action.action.as_ref() {
        // Add the least useful card to the river: all seats use the river.
        Some(Does::River(river)) => vec![200 - worth(&river.card, &view.hand)],
        Some(Does::Show(show)) => strength(view.river.iter().chain(&show.cards)),
        Some(Does::PickUp(taken)) => vec![worth(&taken.card, &view.hand)],
        None => vec![],
    }
}

/// Rates a card among others: cards of its rank, then of its suit.
fn worth(card: &str, hand: &[String]) -> usize {
    let beside = |same: fn(&str) -> &str| hand.iter().filter(|c| same(c) == same(card)).count();
    rank(card) + 12 * beside(|c| &c[..1]) + beside(|c| &c[1..])
}

fn rank(card: &str) -> usize {
    RANKS.find(&card[..1]).unwrap()
}

/// Rates the best hand of these cards approximately: its category, then its ranks.
fn strength<'a>(cards: impl Iterator<Item = &'a String>) -> Mark {
    let (mut ranks, mut suits) = ([0; 13], [0; 4]);
    for card in cards {
        ranks[rank(card)] += 1;
        suits["CDHS".find(&card[1..]).unwrap()] += 1;
    }
    let mut groups: Vec<_> = (0..13).map(|rank| (ranks[rank], rank)).collect();
    groups.sort_by(|a, b| b.cmp(a));
    let has = |rank: usize| ranks[(rank + 12) % 13] > 0; // an ace is also below the two
    let straight = (0..10).any(|low| (low..low + 5).all(has));
    let kind = match (groups[0].0, groups[1].0) {
        (4, _) => 7,
        (3, 2..) => 6,
        _ if suits.iter().any(|&of_it| of_it >= 5) => 5,
        _ if straight => 4,
        (3, _) => 3,
        (2, 2) => 2,
        (2, _) => 1,
        _ => 0,
    };
    let by_size = groups.into_iter().map(|(_, rank)| rank).take(5);
    [kind].into_iter().chain(by_size).collect()
}

fn main() {
    kit::run(choose);
}
