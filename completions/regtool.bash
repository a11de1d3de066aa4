# bash completion for regtool

# Completes another program's command line, which begins at the word of this number.
_regtool_other() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif (($1 == COMP_CWORD)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    compopt -o default 2>/dev/null
  fi
}

_regtool() {
  local cur prev command="" sub="" word i
  cur=${COMP_WORDS[COMP_CWORD]}
  prev=${COMP_WORDS[COMP_CWORD - 1]}
  # An equals sign is a word of its own (COMP_WORDBREAKS): what is asked for stands before it.
  local equals=0
  local stores="rollcall murmur supercode pairs claude jupyter"
  if [[ $cur == = ]]; then
    equals=$COMP_CWORD
    cur=""
  elif [[ $prev == = ]]; then
    equals=$((COMP_CWORD - 1))
  fi
  if ((equals > 1)); then
    prev=${COMP_WORDS[equals - 1]}
    # `--filter status=l`: the values of that key.
    case $prev in
      status)
        mapfile -t COMPREPLY < <(compgen -W "live alive unreachable gone" -- "$cur"); return ;;
      detached) mapfile -t COMPREPLY < <(compgen -W "yes no" -- "$cur"); return ;;
      kind) mapfile -t COMPREPLY < <(compgen -W "a2a http jupyter tcp unix" -- "$cur"); return ;;
      store) mapfile -t COMPREPLY < <(compgen -W "$stores" -- "$cur"); return ;;
    esac
  fi
  local commands="ps show verify run register forget stop kill env tree terminal type wait watch events prune receipts sentinel sweep pairs plugins doctor help"
  local globals="--home --user --store --plugin --trust-plugins --verbose --json --quiet --no-color --help"
  # Options that are followed by a value, so that no value is taken for a command.
  local with_value=" --home --user --store --plugin --timeout --interval --limit --filter -f --sort --format --after \
    --total --reason --signal -s --undo --session --name --workdir --label -l --log --pid --url --door \
    --door-set --token-file --expect-start --dir --parent --harness --workspace --runtime --base-url \
    --profile --persistence-location --capability --tmux "
  local -a home=()
  local plain=0  # words behind the command that are no options

  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word =~ ^[=:]+$ ]]; then
      ((i++))  # the rest of the word before it
    elif [[ $with_value == *" $word "* || ($word == --version && -n $command) ]]; then
      [[ ${COMP_WORDS[++i]} == = ]] && ((i++))
      [[ $word == --home ]] && home=(--home "${COMP_WORDS[i]}")
    elif [[ $word == -- ]]; then
      if [[ $command == run || "$command $sub" == "sentinel run" ]]; then
        _regtool_other $((i + 1))
      fi
      return
    elif [[ $word == -* ]]; then
      continue
    elif [[ -z $command ]]; then
      command=$word
    elif [[ $command == run || ("$command $sub" == "sentinel run" && $plain == 2) ]]; then
      _regtool_other "$i"
      return
    else
      ((plain++))
      if [[ -z $sub && $command =~ ^(plugins|receipts|sentinel|pairs)$ ]]; then sub=$word; fi
    fi
  done

  # The ids that `ps` lists with these options.
  _regtool_ids() {
    mapfile -t COMPREPLY < <(compgen -W \
      "$(command regtool --quiet "${home[@]}" ps -q "$@" 2>/dev/null)" -- "$cur")
  }

  case $prev in
    --home | --workdir | --workspace | --dir) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    --plugin | --token-file | --log) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --store) mapfile -t COMPREPLY < <(compgen -W "all $stores" -- "$cur"); return ;;
    --undo) _regtool_ids --gone; return ;;
    --user) mapfile -t COMPREPLY < <(compgen -u -- "$cur"); return ;;
    --signal | -s)
      mapfile -t COMPREPLY < <(compgen -W "TERM INT HUP QUIT KILL USR1 USR2 CONT STOP" -- "$cur")
      return ;;
    --door) mapfile -t COMPREPLY < <(compgen -W "a2a http jupyter tcp unix" -- "$cur"); return ;;
    --sort)
      mapfile -t COMPREPLY < <(compgen -W "session name version status detached uptime pid kind door \
        url workdir store code reason" -- "$cur")
      return ;;
    --filter | -f)
      compopt -o nospace
      mapfile -t COMPREPLY < <(compgen -W "name= id= status=live status=alive status=unreachable \
        status=gone label= version= pid= detached=yes detached=no workdir= kind= url= store=" -- "$cur")
      return ;;
    --session | --name | --version | --label | -l | --pid | --url | --door-set | --expect-start | \
      --timeout | --interval | --limit | --after | --total | --reason | --format | --parent | --runtime | --base-url | --harness | \
      --profile | --persistence-location | --capability | --tmux)
      return ;;
  esac

  local options=""
  case $command in
    "") mapfile -t COMPREPLY < <(compgen -W "$commands $globals --version" -- "$cur"); return ;;
    ps) options="--wide --all --no-prune --no-probe --ids --gone --filter --sort --format --timeout" ;;
    show) options="--timeout" ;;
    verify) options="--explain --timeout" ;;
    wait) options="--timeout" ;;
    watch) options="--after --interval --no-probe" ;;
    events) options="--after --limit" ;;
    env) options="--show-secrets --null" ;;
    stop) options="--force --tree --no-door --reason --after --total --accept-time-guard" ;;
    kill) options="--signal --total --reason --accept-time-guard" ;;
    forget) options="--force" ;;
    prune) options="--dry-run --undo" ;;
    run) options="--session --name --version --workdir --label --detach --log --no-door --auth --" ;;
    register) options="--session --pid --url --name --version --workdir --door --door-set \
      --token-file --label --expect-start --replace" ;;
    receipts)
      case $sub in
        "") options="list find discover resolve forget register" ;;
        list | find) options="--no-prune" ;;
        discover) options="--harness --session --workspace --no-prune" ;;
        resolve) options="--harness --session --workspace --token-file --show-token" ;;
        register) options="--runtime --pid --base-url --token-file --harness --session --workspace \
          --expect-start --profile --persistence-location --capability --tmux" ;;
      esac
      if [[ $sub =~ ^(resolve|forget)$ && $cur != -* ]]; then
        # A colon is a word break: what stands before it is completed already.
        local prefix=${cur%"${cur##*:}"}
        mapfile -t COMPREPLY < <(compgen -W \
          "$(command regtool --quiet receipts list --no-prune 2>/dev/null | sed -n 's/^\(rollcall-live:[^ ]*\).*/\1/p')" -- "$cur")
        COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
        return
      fi ;;
    sentinel)
      if [[ -z $sub ]]; then
        options="write check run"
      elif [[ $sub == run && $cur != -* && $plain == 2 ]]; then
        _regtool_other "$COMP_CWORD"
        return
      elif [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
      elif [[ $sub == write ]]; then
        options="--pid --replace"
      elif [[ $sub == run ]]; then
        options="--replace --"
      fi ;;
    sweep)
      if [[ $cur != -* ]]; then mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return; fi
      options="--dry-run" ;;
    pairs)
      case $sub in
        "") options="ls show rebind" ;;
        rebind) options="--parent --dir" ;;
        *) options="--dir" ;;
      esac ;;
    plugins)
      if [[ -z $sub ]]; then
        options="list check"
      elif [[ $sub == check && $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
      else
        options="--write-store"
      fi ;;
  esac
  case $command in
    show | verify | env | tree | terminal | type | wait | stop | kill | forget)
      if [[ $cur != -* ]]; then
        ((plain > 0)) || _regtool_ids --no-probe --no-prune
        return
      fi ;;
    help)
      if [[ $cur != -* ]]; then
        ((plain > 0)) || mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
        return
      fi ;;
    run)
      if [[ -n $cur && $cur != -* ]]; then _regtool_other "$COMP_CWORD"; return; fi ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options $globals" -- "$cur")
}
complete -F _regtool regtool
