# fish completion for regtool

# Options that are followed by a value.
set -g __regtool_values --home --user --store --plugin --reason --timeout --interval --limit --filter -f --sort --format --after \
    --total --signal -s --undo --session --name --workdir --label -l --log --pid --url --door \
    --door-set --token-file --expect-start --dir --parent --harness --workspace --runtime --base-url \
    --profile --persistence-location --capability --tmux

# The command, its own command and its arguments, as far as they stand before the cursor; then, after
# a line "--", the words of the command that `run` and `sentinel run` are given.
function __regtool_words
    set -l tokens (commandline -opc)
    set -e tokens[1]
    set -l words
    set -l skip 0
    set -l rest 0
    for token in $tokens
        if test $rest = 1
            printf '%s\n' $token
            continue
        else if test $skip = 1
            set skip 0
            continue
        else if contains -- $token $__regtool_values
            set skip 1
            continue
        else if test "$token" = --version -a (count $words) -gt 0
            set skip 1
            continue
        else if string match -q -- '--' $token
            test "$words[1]" = run -o "$words[1..2]" = "sentinel run"; or break
            set rest 1
            printf '%s\n' --
            continue
        else if string match -q -- '-*' $token
            continue
        end
        if test "$words" = run; or test (count $words) -eq 3 -a "$words[1..2]" = "sentinel run"
            set rest 1
            printf '%s\n' --
        else
            set -a words $token
        end
        printf '%s\n' $token
    end
end

# Whether the command is one of these; never within the command line of another program.
function __regtool_command
    set -l words (__regtool_words)
    not contains -- -- $words; and contains -- "$words[1]" $argv
end

# Whether it is one of the commands ARGV[2..] of ARGV[1].
function __regtool_sub
    __regtool_command $argv[1]; and contains -- "$(__regtool_words)[2]" $argv[2..-1]
end

# Whether so many words stand before the cursor.
function __regtool_count
    test (count (__regtool_words)) -eq $argv[1]
end

# Whether the word at the cursor is regtool's own.
function __regtool_own
    not contains -- -- (__regtool_words)
end

# Whether the word at the cursor is one of another program's command line.
function __regtool_begun
    __regtool_own; or return 0
    string match -q -- '-*' (commandline -ct); and return 1
    __regtool_command run; and return 0
    __regtool_sub sentinel run; and __regtool_count 3
end

# Completes it as that program's.
function __regtool_other
    set -l words (__regtool_words)
    if set -l at (contains -i -- -- $words)
        set -e words[1..$at]
    else
        set words
    end
    complete "--do-complete=$(string join -- ' ' (string escape -- $words) (commandline -ct))"
end

function __regtool_ids
    set -l home
    set -l tokens (commandline -opc)
    if set -l at (contains -i -- --home $tokens)
        set home --home $tokens[(math $at + 1)]
    end
    command regtool --quiet $home ps -q $argv 2>/dev/null
end

function __regtool_sessions
    __regtool_ids --no-probe --no-prune
end

set -l commands ps show verify run register forget stop kill env tree terminal type wait watch events prune receipts sentinel sweep pairs plugins doctor help
complete -c regtool -f
complete -c regtool -n "__regtool_command ''" -a ps -d 'The sessions that run'
complete -c regtool -n "__regtool_command ''" -a show -d 'One record and its verdict'
complete -c regtool -n "__regtool_command ''" -a verify -d 'Live, gone or unreachable'
complete -c regtool -n "__regtool_command ''" -a run -d 'Run a command as a session'
complete -c regtool -n "__regtool_command ''" -a register -d 'Record a running process'
complete -c regtool -n "__regtool_command ''" -a forget -d 'Remove one record by hand'
complete -c regtool -n "__regtool_command ''" -a stop -d 'SIGTERM, again, and see whether it went'
complete -c regtool -n "__regtool_command ''" -a kill -d 'Send one signal'
complete -c regtool -n "__regtool_command ''" -a env -d 'The environment of its process'
complete -c regtool -n "__regtool_command ''" -a terminal -d 'The terminal that a session runs in'
complete -c regtool -n "__regtool_command ''" -a type -d 'Type keys into it'
complete -c regtool -n "__regtool_command ''" -a tree -d 'The processes as a tree'
complete -c regtool -n '__regtool_command env' -l show-secrets -d 'Hide nothing'
complete -c regtool -n '__regtool_command env' -s 0 -l null -d 'The exact bytes'
complete -c regtool -n "__regtool_command ''" -a wait -d 'Until its process has ended'
complete -c regtool -n "__regtool_command ''" -a watch -d 'What happens, as it happens'
complete -c regtool -n "__regtool_command ''" -a events -d 'What the journal says has happened'
complete -c regtool -n '__regtool_command watch events' -l after -x -d 'Go on behind this cursor'
complete -c regtool -n '__regtool_command watch' -l interval -x -d 'Between two sweeps'
complete -c regtool -n '__regtool_command watch' -l no-probe -d 'Ask no door'
complete -c regtool -n '__regtool_command events' -l limit -x -d 'At most so many'
complete -c regtool -n "__regtool_command ''" -a prune -d 'Remove what is proven gone'
complete -c regtool -n "__regtool_command ''" -a receipts -d 'Endpoints of running programs'
complete -c regtool -n "__regtool_command ''" -a sentinel -d 'Pid files that cannot be fooled'
complete -c regtool -n "__regtool_command ''" -a sweep -d 'Remove folders of gone processes'
complete -c regtool -n "__regtool_command ''" -a pairs -d 'Of a terminal and a controller'
complete -c regtool -n "__regtool_command ''" -a plugins -d 'What was loaded or refused'
complete -c regtool -n "__regtool_command ''" -a doctor -d 'What this machine lets Rollcall see'
complete -c regtool -n "__regtool_command ''" -a help -d 'The help of a command'
complete -c regtool -n '__regtool_command help; and __regtool_count 1' -a "$commands"
# Of another program, from its name on.
complete -c regtool -n __regtool_begun -a '(__regtool_other)'

complete -c regtool -n __regtool_own -l home -x -a '(__fish_complete_directories)' -d 'Where the records are'
complete -c regtool -n __regtool_own -l user -x -a '(__fish_complete_users)' -d "Another user's sessions"
complete -c regtool -n __regtool_own -l store -x -a 'all rollcall murmur supercode pairs claude jupyter' -d 'Whose records'
complete -c regtool -n __regtool_own -l plugin -r -F -d 'A further plugin'
complete -c regtool -n __regtool_own -l trust-plugins -d 'Load plugins that others can write'
complete -c regtool -n __regtool_own -s v -l verbose -d 'Say more'
complete -c regtool -n __regtool_own -l json -d 'Answer in JSON'
complete -c regtool -n __regtool_own -l quiet -d 'No notices or warnings'
complete -c regtool -n __regtool_own -l no-color -d 'No colours'
complete -c regtool -n __regtool_own -s h -l help -d Help
complete -c regtool -n "__regtool_command ''" -l version -d 'The version'

complete -c regtool -n '__regtool_command show verify env tree terminal type wait stop kill forget; and __regtool_count 1' -a '(__regtool_sessions)'
complete -c regtool -n '__regtool_command show verify wait ps' -l timeout -x -d 'At most so long'

complete -c regtool -n '__regtool_command ps' -l wide -d 'With the reason, nothing cut'
complete -c regtool -n '__regtool_command ps' -s a -l all -d 'Also what is gone'
complete -c regtool -n '__regtool_command ps' -l no-prune -d 'Remove nothing'
complete -c regtool -n '__regtool_command ps' -l no-probe -d 'Ask no door'
complete -c regtool -n '__regtool_command ps' -s q -l ids -d 'Only the ids'
complete -c regtool -n '__regtool_command ps' -l gone -d 'What was pruned'
complete -c regtool -n '__regtool_command ps' -s f -l filter -x -a 'name= id= status=live status=alive status=unreachable status=gone label= version= pid= detached=yes detached=no workdir= kind= url= store='
complete -c regtool -n '__regtool_command ps' -l sort -x -a 'session name version status detached uptime pid kind door url workdir store code reason'
complete -c regtool -n '__regtool_command ps' -l format -x -d 'Columns or a template'

complete -c regtool -n '__regtool_command verify' -l explain -d 'Layer by layer'
complete -c regtool -n '__regtool_command stop' -l force -d 'One SIGKILL'
complete -c regtool -n '__regtool_command stop' -l tree -d 'With all that descends from it'
complete -c regtool -n '__regtool_command stop' -l no-door -d 'By signals only'
complete -c regtool -n '__regtool_command stop kill' -l reason -x -d 'Why, for the journal'
complete -c regtool -n '__regtool_command stop' -l after -x -d 'Milliseconds to the second SIGTERM'
complete -c regtool -n '__regtool_command stop kill' -l total -x -d 'Milliseconds in all'
complete -c regtool -n '__regtool_command stop kill' -l accept-time-guard -d 'Also where only the time tells'
complete -c regtool -n '__regtool_command kill' -s s -l signal -x -a 'TERM INT HUP QUIT KILL USR1 USR2 CONT STOP'
complete -c regtool -n '__regtool_command forget' -l force -d 'In any case'
complete -c regtool -n '__regtool_command prune' -l dry-run -d 'Only tells'
complete -c regtool -n '__regtool_command prune' -l undo -x -a '(__regtool_ids --gone)' -d 'Puts a record back'

complete -c regtool -n '__regtool_command run register' -l session -x -d 'Its id'
complete -c regtool -n '__regtool_command run register' -l name -x -d 'Its name'
complete -c regtool -n '__regtool_command run register' -l version -x -d 'Its version'
complete -c regtool -n '__regtool_command run register' -l workdir -x -a '(__fish_complete_directories)'
complete -c regtool -n '__regtool_command run register' -s l -l label -x -d 'K=V'
complete -c regtool -n '__regtool_command run' -s d -l detach -d 'In the background'
complete -c regtool -n '__regtool_command run' -l log -r -F -d 'Where its output goes'
complete -c regtool -n '__regtool_command run' -l no-door -d 'Without a door'
complete -c regtool -n '__regtool_command run' -l auth -d 'A door that wants the token'
complete -c regtool -n '__regtool_command register' -l pid -x -a '(__fish_complete_pids)'
complete -c regtool -n '__regtool_command register' -l url -x -d 'host:port on loopback'
complete -c regtool -n '__regtool_command register' -l door -x -a 'a2a http jupyter tcp unix'
complete -c regtool -n '__regtool_command register' -l door-set -x -d 'K=V'
complete -c regtool -n '__regtool_command register' -l token-file -r -F
complete -c regtool -n '__regtool_command register' -l expect-start -x
complete -c regtool -n '__regtool_command register' -l replace -d 'Take over an id in use'

complete -c regtool -n '__regtool_command plugins; and not __regtool_sub plugins list check' -a 'list check'
complete -c regtool -n '__regtool_command pairs; and not __regtool_sub pairs ls show rebind' -a 'ls show rebind'
complete -c regtool -n '__regtool_command pairs' -l dir -x -a '(__fish_complete_directories)'
complete -c regtool -n '__regtool_sub pairs rebind' -l parent -x -a '(__fish_complete_pids)'
complete -c regtool -n '__regtool_sub plugins check' -F
complete -c regtool -n '__regtool_sub plugins check' -l write-store -d 'Also write to its store'

complete -c regtool -n '__regtool_command receipts; and not __regtool_sub receipts list find discover resolve forget register' -a 'list find discover resolve forget register'
complete -c regtool -n '__regtool_sub receipts list find discover' -l no-prune -d 'Remove nothing'
complete -c regtool -n '__regtool_sub receipts discover resolve register' -l harness -x -d 'What drives it'
complete -c regtool -n '__regtool_sub receipts discover resolve register' -l session -x -d 'Its session there'
complete -c regtool -n '__regtool_sub receipts discover resolve register' -l workspace -x -a '(__fish_complete_directories)' -d 'Its folder'
complete -c regtool -n '__regtool_sub receipts resolve register' -l token-file -r -F -d 'The file of the token'
complete -c regtool -n '__regtool_sub receipts resolve' -l show-token -d 'Print the token'
complete -c regtool -n '__regtool_sub receipts register' -l runtime -x -d 'Its runtime session id'
complete -c regtool -n '__regtool_sub receipts register' -l pid -x -a '(__fish_complete_pids)'
complete -c regtool -n '__regtool_sub receipts register' -l base-url -x -d 'http://HOST:PORT on loopback'
complete -c regtool -n '__regtool_sub receipts register' -l expect-start -x -d 'Refuse another process'
complete -c regtool -n '__regtool_sub receipts register' -l profile -x -d 'Its profile'
complete -c regtool -n '__regtool_sub receipts register' -l persistence-location -x -d 'Where it keeps what it remembers'
complete -c regtool -n '__regtool_sub receipts register' -l capability -x -a 'http acp'
complete -c regtool -n '__regtool_sub receipts register' -l tmux -x -d 'The tmux session'
complete -c regtool -n '__regtool_command sentinel; and not __regtool_sub sentinel write check run' -a 'write check run'
complete -c regtool -n '__regtool_sub sentinel write check run' -F
complete -c regtool -n '__regtool_sub sentinel write' -l pid -x -a '(__fish_complete_pids)'
complete -c regtool -n '__regtool_sub sentinel write run' -l replace -d 'Also in place of one that runs'
complete -c regtool -n '__regtool_command sweep' -x -a '(__fish_complete_directories)'
complete -c regtool -n '__regtool_command sweep' -l dry-run -d 'Only tells'
