//! The kit: implements the protocol for bots in Rust.
//!
//! A complete bot:
//!
//! ```no_run
//! fn main() {
//!     kit::run(|turn| fastrand::choice(&turn.legal).unwrap().clone());
//! }
//! ```
//!
//! `turn` is a question, the message `ActRequest` of proto/pokearena/v1/bot.proto.
//! `turn.game_view()` is everything your seat sees. `turn.legal` contains the legal actions, the
//! least risky first. Return one of them, or any other legal `Action`, or `(action, "a note")`: the
//! replay shows the note beside the action.
//!
//! Before every question the kit seeds `fastrand` with `turn.luck`, so the same question always
//! gets the same answer: a tournament with a seed has the same result twice, and `pokearena ask`
//! repeats what happened in the match. Seed other generators with `turn.luck` too. Do not depend
//! on the order of a `HashMap`: it is different in each process.
//!
//! A bot with memory is a [`Player`]; run it with [`serve`]. Your code answers one question at a
//! time. `pokearena logs` prints the bot's output. A panic ends the process, and its trace is the
//! end of that output.

use std::backtrace::Backtrace;
use std::sync::{Arc, Mutex};
use std::{env, panic, process, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::net::{TcpListener, UnixListener};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt};
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

/// The messages of the protocol, generated.
#[allow(clippy::all)]
#[rustfmt::skip]
pub mod messages;

use messages::bot_service_server::{BotService, BotServiceServer};
pub use messages::{view::Game, ActRequest as Turn, Action, StartRequest, StartResponse};
use messages::{ActResponse, EndRequest, EndResponse, PlayRequest, PlayResponse};

/// Number of games that a function plays concurrently: it has no memory.
pub const GAMES_IN_FLIGHT: u32 = 16;

const LARGEST_MESSAGE: usize = 64 << 20;

impl Turn {
    /// Returns everything your seat sees, as a message of its game.
    pub fn game_view(&self) -> &Game {
        let view = self.view.as_ref();
        view.and_then(|view| view.game.as_ref()).expect("a view")
    }
}

/// An action and a note that the replay shows beside it.
#[derive(Default)]
pub struct Move {
    action: Option<Action>,
    text: String,
    note: String,
}

impl Move {
    /// Returns a move in words: the number of an action in `turn.text`, or the action as it is
    /// written there. `turn.text` is the question as plain text, if the response of `start` has set
    /// `with_text`.
    pub fn in_words(text: impl Into<String>, note: impl Into<String>) -> Self {
        Move {
            action: None,
            text: text.into(),
            note: note.into(),
        }
    }
}

impl From<Action> for Move {
    fn from(action: Action) -> Self {
        (action, "").into()
    }
}

impl<Note: Into<String>> From<(Action, Note)> for Move {
    fn from((action, note): (Action, Note)) -> Self {
        Move {
            action: Some(action),
            note: note.into(),
            ..Default::default()
        }
    }
}

/// A bot with memory.
pub trait Player: Send + 'static {
    /// Answers one question.
    fn act(&mut self, turn: &Turn) -> Move;

    /// Receives the description of a table before any clock runs. The response may set the number
    /// of games that the bot plays concurrently (see `turn.game`; default 1), and may turn off the
    /// list of legal actions.
    fn start(&mut self, _start: &StartRequest) -> StartResponse {
        StartResponse::default()
    }

    /// Called at the end of the table. Release resources here.
    fn end(&mut self, _end: &EndRequest) {}
}

struct Function<Choose>(Choose);

impl<Choose, Answer> Player for Function<Choose>
where
    Choose: FnMut(&Turn) -> Answer + Send + 'static,
    Answer: Into<Move>,
{
    fn act(&mut self, turn: &Turn) -> Move {
        (self.0)(turn).into()
    }

    fn start(&mut self, _start: &StartRequest) -> StartResponse {
        StartResponse {
            games_in_flight: GAMES_IN_FLIGHT,
            ..Default::default()
        }
    }
}

/// Serves a bot that is a function of one question, until the arena ends it (SIGTERM).
pub fn run<Answer: Into<Move> + 'static>(choose: impl FnMut(&Turn) -> Answer + Send + 'static) {
    serve(Function(choose));
}

/// Serves a bot with memory, until the arena ends it (SIGTERM).
pub fn serve(player: impl Player) {
    listen_for(Arc::new(Mutex::new(player)));
}

/// Serves any player. It is not generic, so that it is compiled once, with the kit.
fn listen_for(player: Arc<Mutex<dyn Player>>) {
    let Ok(address) = env::var("POKEARENA_ADDRESS") else {
        eprintln!("This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.");
        eprintln!("To watch it play:  pokearena play poke . sample:random --watch");
        process::exit(1);
    };
    end_when_told();
    end_with_a_panic();
    let served = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(listen(&address, Service(player)));
    if let Err(error) = served {
        eprintln!("{address}: {error}");
        process::exit(1);
    }
}

/// Ends the process on a signal. A separate thread, so that it also ends a bot that is computing.
fn end_when_told() {
    let mut signals = Signals::new([SIGTERM, SIGINT]).expect("signals can be waited for");
    thread::spawn(move || {
        signals.forever().next();
        process::exit(0);
    });
}

/// Ends the process on a panic, which would otherwise end one call only.
fn end_with_a_panic() {
    panic::set_hook(Box::new(|what| {
        eprintln!("{what}\n{}", Backtrace::force_capture());
        process::exit(101);
    }));
}

async fn listen(address: &str, service: Service) -> Result<(), Box<dyn std::error::Error>> {
    let served = BotServiceServer::new(service).max_decoding_message_size(LARGEST_MESSAGE);
    let server = Server::builder().add_service(served);
    if let Some(path) = address.strip_prefix("unix:") {
        let connections = UnixListenerStream::new(UnixListener::bind(path)?);
        server.serve_with_incoming(connections).await?;
    } else {
        let listener = TcpListener::bind(address).await?;
        let connections = TcpListenerStream::new(listener)
            .map(|connection| connection.inspect(|stream| drop(stream.set_nodelay(true))));
        server.serve_with_incoming(connections).await?;
    }
    Ok(())
}

/// Implements BotService.
struct Service(Arc<Mutex<dyn Player>>);

fn answer(player: &mut dyn Player, turn: &Turn) -> ActResponse {
    fastrand::seed(turn.luck);
    let Move { action, text, note } = player.act(turn);
    ActResponse {
        game: turn.game,
        decision: turn.decision,
        attempt: turn.attempt,
        action,
        note,
        text,
        ..Default::default()
    }
}

#[tonic::async_trait]
impl BotService for Service {
    async fn start(&self, said: Request<StartRequest>) -> Result<Response<StartResponse>, Status> {
        let response = self.0.lock().unwrap().start(said.get_ref());
        Ok(Response::new(response))
    }

    async fn end(&self, said: Request<EndRequest>) -> Result<Response<EndResponse>, Status> {
        self.0.lock().unwrap().end(said.get_ref());
        Ok(Response::new(EndResponse {}))
    }

    async fn act(&self, question: Request<Turn>) -> Result<Response<ActResponse>, Status> {
        let mut player = self.0.lock().unwrap();
        Ok(Response::new(answer(&mut *player, question.get_ref())))
    }

    type PlayStream = std::pin::Pin<Box<dyn Stream<Item = Result<PlayResponse, Status>> + Send>>;

    async fn play(
        &self,
        batches: Request<Streaming<PlayRequest>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        let player = self.0.clone();
        let answered = batches.into_inner().map(move |batch| {
            let mut player = player.lock().unwrap();
            let questions = batch?.questions;
            let answers = questions.iter().map(|turn| answer(&mut *player, turn));
            Ok(PlayResponse {
                answers: answers.collect(),
            })
        });
        Ok(Response::new(Box::pin(answered)))
    }
}
