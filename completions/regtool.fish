# fish completion for regtool
function __regtool_sessions
    command regtool --quiet ps --no-probe --no-prune -q 2>/dev/null
end

set -l commands ps show verify run register forget stop kill env tree terminal type wait prune receipts sentinel sweep plugins doctor help
complete -c regtool -f
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a ps -d 'The sessions that run'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a show -d 'One record and its verdict'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a verify -d 'Live, gone or unreachable'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a run -d 'Run a command as a session'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a register -d 'Record a running process'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a forget -d 'Remove one record by hand'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a stop -d 'SIGTERM, again, and see whether it went'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a kill -d 'Send one signal'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a env -d 'The environment of its process'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a terminal -d 'The terminal that a session runs in'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a type -d 'Type keys into it'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a tree -d 'The processes as a tree'
complete -c regtool -n '__fish_seen_subcommand_from env' -l show-secrets -d 'Hide nothing'
complete -c regtool -n '__fish_seen_subcommand_from env' -s 0 -l null -d 'The exact bytes'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a wait -d 'Until its process has ended'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a prune -d 'Remove what is proven gone'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a receipts -d 'Endpoints of running programs'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a sentinel -d 'Pid files that cannot be fooled'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a sweep -d 'Remove folders of gone processes'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a plugins -d 'What was loaded or refused'
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'What this machine lets Rollcall see'

complete -c regtool -l home -x -a '(__fish_complete_directories)' -d 'Where the records are'
complete -c regtool -l user -x -a '(__fish_complete_users)' -d "Another user's sessions"
complete -c regtool -l plugin -r -F -d 'A further plugin'
complete -c regtool -l trust-plugins -d 'Load plugins that others can write'
complete -c regtool -s v -l verbose -d 'Say more'
complete -c regtool -l json -d 'Answer in JSON'
complete -c regtool -l quiet -d 'No notices or warnings'
complete -c regtool -l no-color -d 'No colours'
complete -c regtool -s h -l help -d Help
complete -c regtool -n "not __fish_seen_subcommand_from $commands" -l version -d 'The version'

complete -c regtool -n '__fish_seen_subcommand_from show verify env tree terminal type wait stop kill forget' -a '(__regtool_sessions)'
complete -c regtool -n '__fish_seen_subcommand_from show verify wait ps' -l timeout -x -d 'At most so long'

complete -c regtool -n '__fish_seen_subcommand_from ps' -l wide -d 'With the reason, nothing cut'
complete -c regtool -n '__fish_seen_subcommand_from ps' -s a -l all -d 'Also what is gone'
complete -c regtool -n '__fish_seen_subcommand_from ps' -l no-prune -d 'Remove nothing'
complete -c regtool -n '__fish_seen_subcommand_from ps' -l no-probe -d 'Ask no door'
complete -c regtool -n '__fish_seen_subcommand_from ps' -s q -l ids -d 'Only the ids'
complete -c regtool -n '__fish_seen_subcommand_from ps' -l gone -d 'What was pruned'
complete -c regtool -n '__fish_seen_subcommand_from ps' -s f -l filter -x -a 'name= id= status=live status=alive status=unreachable status=gone label= version= pid= detached=yes detached=no workdir= kind= url='
complete -c regtool -n '__fish_seen_subcommand_from ps' -l sort -x -a 'session name version status detached uptime pid kind door url workdir code reason'
complete -c regtool -n '__fish_seen_subcommand_from ps' -l format -x -d 'Columns or a template'

complete -c regtool -n '__fish_seen_subcommand_from verify' -l explain -d 'Layer by layer'
complete -c regtool -n '__fish_seen_subcommand_from stop' -l force -d 'One SIGKILL'
complete -c regtool -n '__fish_seen_subcommand_from stop' -l after -x -d 'Milliseconds to the second SIGTERM'
complete -c regtool -n '__fish_seen_subcommand_from stop kill' -l total -x -d 'Milliseconds in all'
complete -c regtool -n '__fish_seen_subcommand_from kill' -s s -l signal -x -a 'TERM INT HUP QUIT KILL USR1 USR2 CONT STOP'
complete -c regtool -n '__fish_seen_subcommand_from forget' -l force -d 'In any case'
complete -c regtool -n '__fish_seen_subcommand_from prune' -l dry-run -d 'Only tells'
complete -c regtool -n '__fish_seen_subcommand_from prune' -l undo -x -d 'Puts a record back'

complete -c regtool -n '__fish_seen_subcommand_from run register' -l session -x -d 'Its id'
complete -c regtool -n '__fish_seen_subcommand_from run register' -l name -x -d 'Its name'
complete -c regtool -n '__fish_seen_subcommand_from run register' -l version -x -d 'Its version'
complete -c regtool -n '__fish_seen_subcommand_from run register' -l workdir -x -a '(__fish_complete_directories)'
complete -c regtool -n '__fish_seen_subcommand_from run register' -s l -l label -x -d 'K=V'
complete -c regtool -n '__fish_seen_subcommand_from run' -s d -l detach -d 'In the background'
complete -c regtool -n '__fish_seen_subcommand_from run' -l log -r -F -d 'Where its output goes'
complete -c regtool -n '__fish_seen_subcommand_from run' -l no-door -d 'Without a door'
complete -c regtool -n '__fish_seen_subcommand_from run' -l auth -d 'A door that wants the token'
complete -c regtool -n '__fish_seen_subcommand_from register' -l pid -x -a '(__fish_complete_pids)'
complete -c regtool -n '__fish_seen_subcommand_from register' -l url -x -d 'host:port on loopback'
complete -c regtool -n '__fish_seen_subcommand_from register' -l door -x -a 'a2a http tcp unix'
complete -c regtool -n '__fish_seen_subcommand_from register' -l door-set -x -d 'K=V'
complete -c regtool -n '__fish_seen_subcommand_from register' -l token-file -r -F
complete -c regtool -n '__fish_seen_subcommand_from register' -l expect-start -x
complete -c regtool -n '__fish_seen_subcommand_from register' -l replace -d 'Take over an id in use'

complete -c regtool -n '__fish_seen_subcommand_from plugins; and not __fish_seen_subcommand_from list check' -a 'list check'
complete -c regtool -n '__fish_seen_subcommand_from check' -F
complete -c regtool -n '__fish_seen_subcommand_from check' -l write-store -d 'Also write to its store'

complete -c regtool -n '__fish_seen_subcommand_from receipts; and not __fish_seen_subcommand_from list find discover resolve forget register' -a 'list find discover resolve forget register'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from list find discover' -l no-prune -d 'Remove nothing'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from discover resolve register' -l harness -x -d 'What drives it'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from discover resolve register' -l session -x -d 'Its session there'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from discover resolve register' -l workspace -x -a '(__fish_complete_directories)' -d 'Its folder'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from resolve register' -l token-file -r -F -d 'The file of the token'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from resolve' -l show-token -d 'Print the token'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l runtime -x -d 'Its runtime session id'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l pid -x -a '(__fish_complete_pids)'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l base-url -x -d 'http://HOST:PORT on loopback'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l expect-start -x -d 'Refuse another process'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l profile -x -d 'Its profile'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l persistence-location -x -d 'Where it keeps what it remembers'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l capability -x -a 'http acp'
complete -c regtool -n '__fish_seen_subcommand_from receipts; and __fish_seen_subcommand_from register' -l tmux -x -d 'The tmux session'
complete -c regtool -n '__fish_seen_subcommand_from sentinel; and not __fish_seen_subcommand_from write check run' -a 'write check run'
complete -c regtool -n '__fish_seen_subcommand_from sentinel; and __fish_seen_subcommand_from write check run' -F
complete -c regtool -n '__fish_seen_subcommand_from sentinel; and __fish_seen_subcommand_from write' -l pid -x -a '(__fish_complete_pids)'
complete -c regtool -n '__fish_seen_subcommand_from sentinel; and __fish_seen_subcommand_from write run' -l replace -d 'Also in place of one that runs'
complete -c regtool -n '__fish_seen_subcommand_from sweep' -x -a '(__fish_complete_directories)'
complete -c regtool -n '__fish_seen_subcommand_from sweep' -l dry-run -d 'Only tells'
