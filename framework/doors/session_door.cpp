#include "doors/session_door.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/ThreadPool.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/secret.hpp"
#include "doors/session_card.hpp"
#include "doors/session_socket.hpp"
#include "rollcall/record.hpp"

namespace rollcall {
namespace {

using OnStop = std::function<void(const std::string&)>;
using doors::CardFacts;
using doors::DoorRequest;
using doors::DoorResponse;

constexpr std::size_t kMaxBody = 64 * 1024;
constexpr int kMaxQueued = 64;
// How long one of the server's threads waits for a connection before it looks whether it is to end.
// Poco 1.11 wakes only one of them when the server is stopped; the rest sleep this out.
constexpr long kIdleMs = 250;

std::vector<std::string> all_of(const Poco::Net::HTTPServerRequest& request, const char* name) {
  std::vector<std::string> values;
  for (auto it = request.find(name); it != request.end() && Poco::icompare(it->first, name) == 0;
       ++it) {
    values.push_back(it->second);
  }
  return values;
}

DoorRequest read_request(Poco::Net::HTTPServerRequest& from) {
  DoorRequest request;
  request.method = from.getMethod();
  request.target = from.getURI();
  request.hosts = all_of(from, "Host");
  request.has_origin = from.has("Origin");
  const std::string site = from.get("Sec-Fetch-Site", "none");
  request.is_cross_site = site != "none" && site != "same-origin";
  request.content_type = from.get("Content-Type", "");
  request.authorizations = all_of(from, "Authorization");
  request.a2a_version = from.get("A2A-Version", "");
  if (request.method != "POST") return request;
  std::array<char, 4096> piece{};
  auto& stream = from.stream();
  while (stream.good() && request.body.size() <= kMaxBody) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    request.body.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  request.body_too_large = request.body.size() > kMaxBody;
  return request;
}

void write_response(const DoorRequest& request, const DoorResponse& from,
                    Poco::Net::HTTPServerResponse& response) {
  response.setStatusAndReason(static_cast<Poco::Net::HTTPResponse::HTTPStatus>(from.status));
  response.setContentType("application/json");
  response.setContentLength64(static_cast<Poco::Int64>(from.body.size()));
  response.setKeepAlive(false);
  response.set("Cache-Control", "no-store");
  response.set("Vary", "A2A-Version");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  if (!from.allow.empty()) response.set("Allow", std::string(from.allow));
  if (from.challenge) {
    response.set("WWW-Authenticate", from.invalid_token
                                         ? R"(Bearer realm="rollcall", error="invalid_token")"
                                         : R"(Bearer realm="rollcall")");
  }
  std::ostream& out = response.send();
  if (request.method != "HEAD") out.write(from.body.data(), std::streamsize(from.body.size()));
  out.flush();  // whatever is done next may be our end
}

class Handler final : public Poco::Net::HTTPRequestHandler {
 public:
  Handler(const CardFacts& facts, const OnStop& on_stop) : facts_(facts), on_stop_(on_stop) {}
  void handleRequest(Poco::Net::HTTPServerRequest& request,
                     Poco::Net::HTTPServerResponse& response) override {
    try {
      DoorRequest read = read_request(request);
      const DoorResponse answer = doors::answer_request(facts_, read);
      for (std::string& given : read.authorizations) core::wipe(given);
      write_response(read, answer, response);
      if (answer.stop && on_stop_) on_stop_(*answer.stop);
    } catch (const Poco::Exception&) {  // the peer went away or used up its time: nothing to say
      response.setKeepAlive(false);
    }
  }

 private:
  const CardFacts& facts_;
  const OnStop& on_stop_;
};

class Factory final : public Poco::Net::HTTPRequestHandlerFactory {
 public:
  Factory(const CardFacts& facts, const OnStop& on_stop) : facts_(facts), on_stop_(on_stop) {}
  Poco::Net::HTTPRequestHandler* createRequestHandler(
      const Poco::Net::HTTPServerRequest&) override {
    return new Handler(facts_, on_stop_);  // owned by the server
  }

 private:
  const CardFacts& facts_;
  const OnStop& on_stop_;
};

}  // namespace

class SessionDoor::Impl {
 public:
  Impl(CardFacts facts, const Options& options, const Poco::Net::ServerSocket& socket)
      : facts_(std::move(facts)),
        on_stop_(options.on_stop),
        pool_(2, options.max_connections + 1),
        listener_(socket) {
    Poco::Net::HTTPServerParams::Ptr params = new Poco::Net::HTTPServerParams;
    params->setKeepAlive(false);
    params->setMaxThreads(options.max_connections);
    params->setMaxQueued(kMaxQueued);
    params->setTimeout(Poco::Timespan(options.connection_ms * 1000));
    params->setThreadIdleTime(Poco::Timespan(kIdleMs * 1000));
    server_ = std::make_unique<Poco::Net::HTTPServer>(new Factory(facts_, on_stop_), pool_, socket,
                                                      params);
    server_->start();
  }
  ~Impl() {
    doors::stop_listening(listener_);
    server_->stopAll(true);
    pool_.joinAll();
    server_.reset();
    if (facts_.token) core::wipe(*facts_.token);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

 private:
  CardFacts facts_;
  OnStop on_stop_;
  Poco::ThreadPool pool_;
  Poco::Net::ServerSocket listener_;
  std::unique_ptr<Poco::Net::HTTPServer> server_;
};

SessionDoor::SessionDoor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SessionDoor::~SessionDoor() = default;

Result<std::unique_ptr<SessionDoor>> SessionDoor::open(Options options) {
  if (auto status = check_session_id(options.session_id); !status) {
    return wrap("cannot open the session's door", status.error());
  }
  if (options.token) {
    if (auto status = check_token(*options.token); !status) {
      return wrap("cannot open the session's door", status.error());
    }
  }
  if (options.max_connections < 1 || options.connection_ms < 1) {
    return fail(ErrorCode::kInvalid, "cannot open the session's door: its bounds are not positive");
  }
  try {
    auto socket = doors::listen_on_loopback(options.port, {.total_ms = options.connection_ms});
    if (!socket) return tl::unexpected<Error>(socket.error());
    CardFacts facts;
    facts.session_id = options.session_id;
    facts.name = options.name;
    facts.version = options.version;
    facts.token = std::move(options.token);
    facts.can_stop = options.on_stop != nullptr;
    facts.authority = fmt::format("127.0.0.1:{}", socket->address().port());
    facts.url = fmt::format("http://{}/", facts.authority);
    return std::unique_ptr<SessionDoor>(
        new SessionDoor(std::make_unique<Impl>(std::move(facts), options, *socket)));
  } catch (const Poco::Exception& problem) {
    return fail(ErrorCode::kIo, fmt::format("cannot open the session's door on 127.0.0.1: {}",
                                            problem.displayText()));
  }
}

std::uint16_t SessionDoor::port() const { return impl_->port(); }
std::string SessionDoor::url() const { return fmt::format("http://127.0.0.1:{}", port()); }

}  // namespace rollcall
