// Package kit is all a bot in Go needs besides an idea.
//
// A whole bot:
//
//	package main
//
//	import "mybot/kit"
//
//	func main() {
//		kit.Run(func(turn *kit.Turn) (*kit.Action, string) {
//			return turn.Legal[turn.Rand.IntN(len(turn.Legal))], "a note"
//		})
//	}
//
// A turn is the question, the message ActRequest of proto/pokearena/v1/bot.proto: what you see is
// turn.View.GetPoke() (or another game's), what you may do is turn.Legal, the most harmless first.
// Return one of them, or any other legal Action, and a few words that the replay shows beside the
// move, or "".
//
// turn.Rand is seeded with turn.Luck, so the same question gets the same answer whenever it is
// asked: tournaments with a seed come out the same twice, and `pokearena ask` shows what really
// happened. Mind that the order of a map differs each time you go through it.
//
// A bot that remembers is a Player, and runs with kit.Serve. Your code answers one question at a
// time. What it prints is kept (`pokearena logs`). A panic ends the process: its trace is the last
// thing in that output.
package kit

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	pb "mybot/pokearena/v1"

	"google.golang.org/grpc"
)

// Action is what a bot answers.
type Action = pb.Action

// Turn is a question, and a generator of random numbers that is the same for the same question.
type Turn struct {
	*pb.ActRequest
	Rand *rand.Rand
}

// Choose answers one question with an action and a note.
type Choose func(*Turn) (*Action, string)

// Player is a bot that remembers. It may also be a Starter and an Ender.
type Player interface {
	Act(*Turn) (*Action, string)
}

// Starter is told what will be played, before any clock runs. It may say how many games of the
// table it plays at the same time (see turn.Game), and that it wants no legal actions; nil says
// nothing.
type Starter interface {
	Start(*pb.StartRequest) *pb.StartResponse
}

// Ender is told that the table is over: the place to tidy up.
type Ender interface {
	End(*pb.EndRequest)
}

// GamesInFlight is how many games at once a plain function is asked about: it remembers nothing
// between them.
const GamesInFlight = 16

const largestMessage = 64 << 20

// Run serves a bot that is a function of one question, until the arena ends it (SIGTERM).
func Run(choose Choose) { serve(function(choose), GamesInFlight) }

// Serve serves a bot that remembers. It plays one game at a time unless its Start says otherwise.
func Serve(player Player) { serve(player, 1) }

type function Choose

func (choose function) Act(turn *Turn) (*Action, string) { return choose(turn) }

func serve(player Player, games uint32) {
	address := os.Getenv("POKEARENA_ADDRESS")
	if address == "" {
		leave("This is a bot; the arena starts it and says where it has to listen.\n" +
			"To see it play:  pokearena play poke . sample:random --watch")
	}
	network := "tcp"
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		leave(err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-ended
		os.Exit(0)
	}()
	server := grpc.NewServer(grpc.MaxRecvMsgSize(largestMessage))
	pb.RegisterBotServiceServer(server, &service{player: player, games: games})
	leave(server.Serve(listener))
}

func leave(why any) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}

// service is the bot as the referee asks it. The author's code runs on one goroutine at a time.
type service struct {
	pb.UnimplementedBotServiceServer
	player Player
	games  uint32
	turn   sync.Mutex
}

func (s *service) Start(_ context.Context, said *pb.StartRequest) (*pb.StartResponse, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	var answer *pb.StartResponse
	if starter, ok := s.player.(Starter); ok {
		answer = starter.Start(said)
	}
	if answer == nil {
		answer = &pb.StartResponse{}
	}
	if answer.GamesInFlight == 0 {
		answer.GamesInFlight = s.games
	}
	return answer, nil
}

func (s *service) End(_ context.Context, said *pb.EndRequest) (*pb.EndResponse, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if ender, ok := s.player.(Ender); ok {
		ender.End(said)
	}
	return &pb.EndResponse{}, nil
}

func (s *service) Act(_ context.Context, question *pb.ActRequest) (*pb.ActResponse, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.answer(question), nil
}

func (s *service) Play(stream grpc.BidiStreamingServer[pb.PlayRequest, pb.PlayResponse]) error {
	for {
		batch, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(s.answerAll(batch)); err != nil {
			return err
		}
	}
}

func (s *service) answerAll(batch *pb.PlayRequest) *pb.PlayResponse {
	s.turn.Lock()
	defer s.turn.Unlock()
	answers := make([]*pb.ActResponse, len(batch.Questions))
	for i, question := range batch.Questions {
		answers[i] = s.answer(question)
	}
	return &pb.PlayResponse{Answers: answers}
}

func (s *service) answer(question *pb.ActRequest) *pb.ActResponse {
	random := rand.New(rand.NewPCG(question.Luck, 0))
	action, note := s.player.Act(&Turn{question, random})
	if action == nil {
		panic("an answer is one of turn.Legal, or another Action; it was nil")
	}
	return &pb.ActResponse{
		Game: question.Game, Decision: question.Decision, Action: action, Note: note,
	}
}
