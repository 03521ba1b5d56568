// Implementation of the kit. You do not need to read it to write a bot.
#include "pokearena_bot.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <typeinfo>

#include "pokearena/v1/bot.grpc.pb.h"

namespace {

constexpr int kGamesInFlight = 16;
constexpr int kLargestMessage = 64 << 20;
constexpr int kDeepest = 64;

// Stack frames at which the latest exception of this thread was thrown.
thread_local void* thrown[kDeepest];
thread_local int thrown_depth = 0;

std::string demangled(const char* name) {
  int status = 0;
  std::unique_ptr<char, decltype(&free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), free);
  return status == 0 ? text.get() : name;
}

// Prints the named functions of these stack frames on standard error.
void print_trace(void* const* frames, int depth) {
  Dl_info found;
  for (int i = 1; i < depth; ++i)  // skips the function that recorded them
    if (dladdr(frames[i], &found) && found.dli_sname)
      std::fprintf(stderr, "  at %s\n", demangled(found.dli_sname).c_str());
  std::fflush(stderr);
}

[[noreturn]] void leave(int status) {
  std::fflush(stdout);
  std::fflush(stderr);
  _exit(status);
}

// Prints a stack trace after a crash, then lets the signal end the process.
void crashed(int signal) {
  ::signal(signal, SIG_DFL);
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", strsignal(signal));
  void* frames[kDeepest];
  print_trace(frames, backtrace(frames, kDeepest));
  raise(signal);
}

// Runs the author's code; an exception in it ends the process.
template <typename Code>
auto safely(Code code) {
  try {
    return code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", demangled(typeid(error).name()).c_str(), error.what());
  } catch (...) {
    auto* type = abi::__cxa_current_exception_type();
    std::fprintf(stderr, "%s was thrown\n", demangled(type ? type->name() : "something").c_str());
  }
  print_trace(thrown, thrown_depth);
  leave(1);
}

using namespace pokearena;

class Plain final : public Player {
 public:
  explicit Plain(Choose choose) : choose_(std::move(choose)) {}
  Move act(const Turn& turn, Random& random) override { return choose_(turn, random); }
  v1::StartResponse start(const v1::StartRequest&) override {
    v1::StartResponse response;
    response.set_games_in_flight(kGamesInFlight);
    return response;
  }

 private:
  Choose choose_;
};

// Implements BotService. The author's code runs in one thread at a time.
class Service final : public v1::BotService::Service {
 public:
  explicit Service(Player& bot) : bot_(bot) {}

  grpc::Status Start(grpc::ServerContext*, const v1::StartRequest* request,
                     v1::StartResponse* response) override {
    std::lock_guard turn(turn_);
    *response = safely([&] { return bot_.start(*request); });
    return grpc::Status::OK;
  }

  grpc::Status Act(grpc::ServerContext*, const Turn* question, v1::ActResponse* response) override {
    answer(*question, response);
    return grpc::Status::OK;
  }

  grpc::Status Play(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::PlayResponse, v1::PlayRequest>* stream) override {
    v1::PlayRequest request;
    while (stream->Read(&request)) {
      v1::PlayResponse response;
      for (const auto& question : request.questions()) answer(question, response.add_answers());
      if (!stream->Write(response)) break;
    }
    return grpc::Status::OK;
  }

  grpc::Status End(grpc::ServerContext*, const v1::EndRequest* request,
                   v1::EndResponse*) override {
    std::lock_guard turn(turn_);
    safely([&] { bot_.end(*request); });
    return grpc::Status::OK;
  }

 private:
  void answer(const Turn& question, v1::ActResponse* response) {
    std::lock_guard turn(turn_);
    Random random(question.luck());
    Move move = safely([&] { return bot_.act(question, random); });
    response->set_game(question.game());
    response->set_decision(question.decision());
    response->set_attempt(question.attempt());
    if (move.text.empty()) *response->mutable_action() = std::move(move.action);
    response->set_text(std::move(move.text));
    response->set_note(std::move(move.note));
  }

  Player& bot_;
  std::mutex turn_;
};

}  // namespace

// Replaces the runtime's throw function: the stack must be recorded before it is unwound.
extern "C" [[noreturn]] void __cxa_throw(void* thing, void* type,
                                         void (*destroy)(void*)) {
  thrown_depth = backtrace(thrown, kDeepest);
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto original = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  original(thing, type, destroy);
  abort();
}

namespace pokearena {

void run(Player& bot) {
  const char* address = std::getenv("POKEARENA_ADDRESS");
  if (!address || !*address) {
    std::fputs(
        "This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.\n"
        "To watch it play:  pokearena play poke . sample:random --watch\n",
        stderr);
    leave(1);
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, crashed);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  // Block the signals before threads start, which inherit the mask. The main thread waits below.
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  Service service(bot);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  builder.SetMaxReceiveMessageSize(kLargestMessage);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  auto server = builder.BuildAndStart();
  if (!server) {
    std::fprintf(stderr, "The bot cannot listen at %s.\n", address);
    leave(1);
  }
  int signal = 0;
  sigwait(&ending, &signal);
  leave(0);
}

void run(Choose choose) {
  Plain bot(std::move(choose));
  run(bot);
}

}  // namespace pokearena
