
# Run files, suites, testbeds, topics, and fields of suites with their values: behind what the parser knows.
_plimsoll_suites() { plimsoll suites 2>/dev/null | sed -n 's/^\([a-z0-9-]\{1,\}\)  .*/\1/p'; }
_plimsoll_testbeds() { plimsoll ceiling 2>/dev/null | sed -n 's/^\([a-z0-9-]\{1,\}\)  .*/\1/p'; }
# Commands and topics of the guide.
_plimsoll_topics() { plimsoll help all 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'; }
# `table.field=value,value` in a line; a field of every workload is named alone.
_plimsoll_fields() {
    plimsoll suites --reference 2>/dev/null | awk -F ' [|] ' '
        /^## / { table = ""; if ($0 ~ /^## `\[[a-z]+\]`$/) { table = $0; gsub(/[^a-z]/, "", table); table = table "." } }
        /^[|] `[a-z_]+` [|]/ && NF > 2 {
            name = $1; gsub(/[^a-z_]/, "", name)
            values = $2 == "true or false" ? "true,false" : ""
            if ($2 ~ /^`"/) { values = $2; gsub(/ or /, ",", values); gsub(/[^a-z0-9,-]/, "", values) }
            print table name "=" values
        }'
}
_plimsoll_words() {
    local cur="$2" prev="$3" at=$COMP_CWORD field="" before="" field_line one found=()
    # The shell takes `--set field=value` apart at its sign.
    if [[ $cur == "=" ]]; then
        field=$prev before=${COMP_WORDS[at-2]} cur=""
    elif [[ $prev == "=" ]]; then
        field=${COMP_WORDS[at-2]} before=${COMP_WORDS[at-3]}
    fi
    if [[ $before == --set ]]; then
        COMPREPLY=()
        for field_line in $(_plimsoll_fields); do
            [[ ${field_line%%=*} == "$field" ]] || continue
            one=${field_line#*=}
            COMPREPLY=($(compgen -W "${one//,/ }" -- "$cur"))
        done
        return
    fi
    if [[ $prev == --set ]]; then
        one=""
        for field_line in $(_plimsoll_fields); do one+="${field_line%%=*}= "; done
        COMPREPLY=($(compgen -W "$one" -- "$cur"))
        compopt -o nospace 2>/dev/null
        return
    fi
    local IFS=$'\n'
    if [[ $prev == --simulate || $prev == --testbed ]]; then
        COMPREPLY=($(compgen -W "$(_plimsoll_testbeds)" -- "$cur")
            $(compgen -f -X '!*.toml' -- "$cur") $(compgen -d -S / -- "$cur"))
        return
    fi
    IFS=$' \t\n' _plimsoll "$@"
    [[ $cur == -* ]] && return
    if [[ $at -eq 1 ]]; then
        found=()
        for one in "${COMPREPLY[@]}"; do
            [[ $one == -* ]] || found+=("$one")
        done
        COMPREPLY=("${found[@]}")
        return
    fi
    # Where the parser offers options alone, what the command takes by itself comes first.
    for one in "${COMPREPLY[@]}"; do
        [[ $one == -* ]] && break
    done
    [[ $one == -* || ${#COMPREPLY[@]} -eq 0 ]] || return
    case ${COMP_WORDS[1]} in
        ceiling|calibrate|predict)
            found=($(compgen -W "$(_plimsoll_testbeds)" -- "$cur")
                $(compgen -f -X '!*.toml' -- "$cur") $(compgen -d -S / -- "$cur"))
            case ${COMP_WORDS[1]} in
                calibrate) found+=($(compgen -f -X '!*.plimsoll' -- "$cur")) ;;
                predict) found+=($(compgen -W "$(_plimsoll_suites)" -- "$cur")) ;;
            esac ;;
        run|plan|loadline|suites)
            found=($(compgen -W "$(_plimsoll_suites)" -- "$cur")
                $(compgen -f -X '!*.toml' -- "$cur") $(compgen -d -S / -- "$cur")) ;;
        help) found=($(compgen -W "$(_plimsoll_topics)" -- "$cur")) ;;
        show|report|compare|resume|take|verify|export|trend|mark|serve|watch)
            found=($(compgen -f -X '!*.plimsoll' -- "$cur") $(compgen -d -S / -- "$cur")) ;;
        *) return ;;
    esac
    [[ ${#found[@]} -eq 0 ]] || COMPREPLY=("${found[@]}")
}
complete -F _plimsoll_words -o nosort -o bashdefault plimsoll
