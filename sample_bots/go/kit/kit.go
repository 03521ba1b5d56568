// Package kit implements the protocol for bots in Go.
//
// A complete bot:
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
// A turn is a question, the message ActRequest of proto/pokearena/v1/bot.proto.
// turn.View.GetPoke() (or that of another game) is everything your seat sees. turn.Legal contains
// the legal actions, the least risky first. Return one of them, or any other legal Action, and a
// note that the replay shows beside the action, or "".
//
// turn.Rand is seeded with turn.Luck, so the same question always gets the same answer: a
// tournament with a seed has the same result twice, and `pokearena ask` repeats what happened in
// the match. Do not depend on the order of a map: it is different in each iteration.
//
// A bot with memory is a Player; run it with kit.Serve. Your code answers one question at a time.
// `pokearena logs` prints the bot's output. A panic ends the process, and its trace is the end of
// that output.
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

// Action is the answer of a bot.
type Action = pb.Action

// Turn is a question with a random number generator, whose seed depends on the question only.
//
// turn.Text is the question as plain text, if the response of Start has set WithText.
type Turn struct {
	*pb.ActRequest
	Rand *rand.Rand
	// Words is an answer in words: set it, and return nil instead of an action. It is the number of
	// an action in turn.Text, or the action as it is written there.
	Words string
}

// Choose answers one question with an action and a note.
type Choose func(*Turn) (*Action, string)

// Player is a bot with memory. It may also implement Starter and Ender.
type Player interface {
	Act(*Turn) (*Action, string)
}

// Starter receives the description of a table before any clock runs. Its response may set the
// number of games that it plays concurrently (see turn.Game), and may turn off the list of legal
// actions. nil is the default response.
type Starter interface {
	Start(*pb.StartRequest) *pb.StartResponse
}

// Ender receives a message at the end of the table. Release resources here.
type Ender interface {
	End(*pb.EndRequest)
}

// GamesInFlight is the number of games that a function plays concurrently: it has no memory.
const GamesInFlight = 16

const largestMessage = 64 << 20

// Run serves a bot that is a function of one question, until the arena ends it (SIGTERM).
func Run(choose Choose) { serve(function(choose), GamesInFlight) }

// Serve serves a bot with memory. It plays one game at a time unless its Start returns a number.
func Serve(player Player) { serve(player, 1) }

type function Choose

func (choose function) Act(turn *Turn) (*Action, string) { return choose(turn) }

func serve(player Player, games uint32) {
	address := os.Getenv("POKEARENA_ADDRESS")
	if address == "" {
		leave("This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.\n" +
			"To watch it play:  pokearena play poke . sample:random --watch")
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

func leave(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}

// service implements BotService. The author's code runs on one goroutine at a time.
type service struct {
	pb.UnimplementedBotServiceServer
	player Player
	games  uint32
	turn   sync.Mutex
}

func (s *service) Start(_ context.Context, request *pb.StartRequest) (*pb.StartResponse, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	var answer *pb.StartResponse
	if starter, ok := s.player.(Starter); ok {
		answer = starter.Start(request)
	}
	if answer == nil {
		answer = &pb.StartResponse{}
	}
	if answer.GamesInFlight == 0 {
		answer.GamesInFlight = s.games
	}
	return answer, nil
}

func (s *service) End(_ context.Context, request *pb.EndRequest) (*pb.EndResponse, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if ender, ok := s.player.(Ender); ok {
		ender.End(request)
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
	turn := &Turn{ActRequest: question, Rand: random}
	action, note := s.player.Act(turn)
	if action == nil && turn.Words == "" {
		panic("the action is nil; return one of turn.Legal or another Action, or set turn.Words")
	}
	return &pb.ActResponse{
		Game: question.Game, Decision: question.Decision, Attempt: question.Attempt,
		Action: action, Note: note,
		Text: turn.Words,
	}
}
