#include "regtool/help.hpp"

#include <utility>

namespace rollcall::regtool {
namespace {

constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
    {"", R"(Examples:
  regtool run --name build -- make -j4   run a command as a session
  regtool ps                             the sessions that run
  regtool verify --explain ID            why one is live, unreachable or gone
  regtool stop ID                        stop exactly that one
)"},
    {"ps", R"(Examples:
  regtool ps                             the table, newest first
  regtool ps --wide                      with the reason of what is not live
  regtool ps -q --filter status=live     the ids of the live ones
  regtool ps --format '{session}\t{pid}' your own lines
  regtool ps --json --no-prune           for scripts; removes nothing
  regtool ps --gone                      what was pruned in the last days, and why
  regtool ps --store all                 also what other programs recorded
  regtool ps --store jupyter,claude
)"},
    {"show", R"(Examples:
  regtool show ses_0197f3c2a4d97b1e8c5d3f6a7b8c9d0e
  regtool show 9d0e                      by the end of its id
  regtool show @1                        the first row of ps whose process is alive
)"},
    {"verify", R"(Examples:
  regtool verify 9d0e && echo live
  regtool verify --explain 9d0e          layer by layer
  regtool verify 9d0e --json --timeout 500ms

Exit: 0 live, 1 gone, 3 alive or untellable, but not reachable.
)"},
    {"env", R"(Examples:
  regtool env 9d0e                       what looks like a secret is hidden
  regtool env 9d0e PATH                  one value
  regtool env 9d0e --show-secrets -0     the exact bytes, each entry ended by NUL

Exit: 0 read, 1 no such session, its process is gone, or no such variable; 4 refused.
)"},
    {"tree", R"(Examples:
  regtool tree                           all processes, with the sessions among them
  regtool tree 9d0e                      what is below one session
  regtool tree --json
)"},
    {"terminal", R"(Examples:
  regtool terminal 9d0e                  tmux %3 /tmp/tmux-1000/default

Exit: 0 it has one, 1 none, no such session, or its process is gone; 4 another user's,
or it cannot be told whose it is.
)"},
    {"type", R"(Examples:
  regtool type 9d0e -- 'make test' Enter
  regtool type 9d0e -- C-c

tmux is known; the configuration's terminal.input.NAME names the command of any other.
Its socket must be yours, and out of the reach of other users.

Exit: 0 typed, 1 as terminal, 2 a key is refused, 4 another user's process or socket,
5 no command is known, it failed, or the socket is missing.
)"},
    {"watch", R"(Examples:
  regtool watch                          what is there now, then what happens
  regtool watch --json                   a line each, with a cursor
  regtool watch --json --after CURSOR    also what happened since that line
  regtool watch --interval 5s            asks the doors every 5 s

Ends with Ctrl-C or SIGTERM: exit 0.
)"},
    {"events", R"(Examples:
  regtool events --limit 20              the last 20 things that happened
  regtool events --json --after CURSOR   what happened since

Exit: 0 read, whatever was in it; 5 the journal cannot be read.
)"},
    {"wait", R"(Examples:
  regtool wait 9d0e                      until its process has ended
  regtool wait 9d0e --timeout 30s

Exit: 0 ended, 1 still there, 3 cannot be told.
)"},
    {"stop", R"(Examples:
  regtool stop 9d0e                      SIGTERM, again after 1 s, waits 3 s
  regtool stop 9d0e --total 10s          waits 10 s
  regtool stop 9d0e --force              one SIGKILL
  regtool stop 9d0e --tree               with all that descends from it, and a receipt

Exit: 0 ended or gone already, 1 still there (of --tree: any of it), 4 refused,
5 this system cannot, or it failed.
)"},
    {"kill", R"(Examples:
  regtool kill 9d0e                      SIGKILL
  regtool kill 9d0e --signal USR1

Exit: 0 ended, gone already, or (not KILL) sent; 1 still there; 4 refused.
)"},
    {"run", R"(Examples:
  regtool run -- ./server --port 8080
  regtool run --name nightly --label team=db -- sh -c 'dump | gzip > out.gz'
  regtool run --detach --log server.log -- ./server
  regtool run --session ci-42 --auth -- ./agent

Exit: the command's own, 128+n when signal n ended it; 125 run itself failed,
126 the command could not be run, 127 there is none; with --detach 0 once it runs.
)"},
    {"register", R"(Examples:
  regtool register --session web --pid 4242 --door tcp --url 127.0.0.1:8080
  regtool register --session db --pid 4243 --door unix --door-set path=/run/db.sock
  regtool register --session api --pid 4244 --door http --url 127.0.0.1:9000 \
      --door-set path=/status --door-set pointer=/session_id --token-file token.txt
  regtool register --session agent --pid 4245 --url 127.0.0.1:9001

Kinds of door: a2a, the default of --url: the agent card names the session. http: a GET of
path answers JSON that names it at pointer. tcp, unix: that the process holds the port or
socket is enough, so that any server will do.
)"},
    {"forget", R"(Examples:
  regtool forget web                     removes its record if its process is gone
  regtool forget web --force             in any case
)"},
    {"prune", R"(Examples:
  regtool prune --dry-run                what would go, and why
  regtool prune
  regtool prune --undo web               puts a pruned record back (without its token)
)"},
    {"receipts", R"(Examples:
  regtool receipts list
  regtool receipts find rt_4711
  regtool receipts resolve rollcall-live://... --harness acp --session s1 --token-file token.txt
)"},
    {"receipts list", R"(Examples:
  regtool receipts list
  regtool receipts list --json --no-prune
)"},
    {"receipts find", R"(Examples:
  regtool receipts find rt_4711

Exit: 0 one, 1 none, 2 several.
)"},
    {"receipts discover", R"(Examples:
  regtool receipts discover --harness acp --session s1 --workspace /srv/work

Exit: 0 found, 1 none.
)"},
    {"receipts resolve", R"(Examples:
  regtool receipts resolve rollcall-live://... --harness acp --session s1 --token-file token.txt

Without --token-file or --show-token the token is not given out.
Exit: 0 resolved, 1 not live, 2 no endpoint, 3 it cannot be told, 4 of another source, 5 no receipt.
)"},
    {"receipts forget", R"(Examples:
  regtool receipts forget rollcall-live://...
)"},
    {"receipts register", R"(Examples:
  regtool receipts register --runtime rt_4711 --pid 4242 --base-url http://127.0.0.1:4096 \
      --harness acp --session s1 --workspace /srv/work --token-file token.txt
)"},
    {"sentinel", R"(Examples:
  regtool sentinel run /run/web.pid -- ./server
  regtool sentinel check /run/web.pid
)"},
    {"sentinel write", R"(Examples:
  regtool sentinel write /run/web.pid              the shell that runs this
  regtool sentinel write --pid $! /run/web.pid
)"},
    {"sentinel check", R"(Examples:
  regtool sentinel check /run/web.pid

Exit, as of an init script's status: 0 runs, 1 dead and the file is there, 3 no file, 4 unknown.
)"},
    {"sentinel run", R"(Examples:
  regtool sentinel run /run/web.pid -- ./server --port 8080

Exit: the command's own; 125 run itself failed (also: the file names one that runs),
126 the command could not be run, 127 there is none.
)"},
    {"sweep", R"(Examples:
  regtool sweep /tmp/work --dry-run      what would go, and why
  regtool sweep /tmp/work
)"},
    {"pairs", R"(Examples:
  regtool pairs ls
  regtool pairs show bench
  regtool pairs rebind bench --parent $PPID
)"},
    {"pairs ls", R"(Examples:
  regtool pairs ls
  regtool pairs ls --dir /srv/pairs --json
)"},
    {"pairs show", R"(Examples:
  regtool pairs show bench
  regtool pairs show bench --json

Exit: 0 there is such a pair, whatever its sides are; 1 there is none.
)"},
    {"pairs rebind", R"(Examples:
  regtool pairs rebind bench --parent $PPID      from a server's script: its parent is bound
  ROLLCALL_PAIR=bench regtool pairs rebind       whoever started this command is bound

Exit: 0 bound, 1 a controller is alive or there is no such pair, 4 refused, 5 could not look.
)"},
    {"plugins", R"(Examples:
  regtool plugins                        what was loaded, shadowed or refused, and why
  regtool plugins check ./my_door.so     tries one out in a child process
)"},
    {"plugins list", R"(Examples:
  regtool plugins list
  regtool plugins list --json
)"},
    {"plugins check", R"(Examples:
  regtool plugins check ./my_door.so

Exit: 0 it passed, 1 it did not.
)"},
    {"doctor", R"(Examples:
  regtool doctor
  regtool doctor --json

Exit: 0 all is well, 1 something Rollcall needs is missing.
)"},
};

}  // namespace

std::string_view examples_of(std::string_view command) {
  for (const auto& [name, text] : kExamples) {
    if (name == command) return text;
  }
  return {};
}

}  // namespace rollcall::regtool
