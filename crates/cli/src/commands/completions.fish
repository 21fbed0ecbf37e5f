
# Suites, testbeds, topics, and run files: behind what the parser knows.
complete -c plimsoll -n '__fish_seen_subcommand_from run plan loadline predict suites' -a '(plimsoll suites 2>/dev/null | string match -r "^[a-z0-9-]+(?=  )")'
complete -c plimsoll -n '__fish_seen_subcommand_from ceiling calibrate predict' -a '(plimsoll ceiling 2>/dev/null | string match -r "^[a-z0-9-]+(?=  )")'
complete -c plimsoll -n '__fish_seen_subcommand_from run plan loadline clean' -l simulate -a '(plimsoll ceiling 2>/dev/null | string match -r "^[a-z0-9-]+(?=  )")'
complete -c plimsoll -n '__fish_seen_subcommand_from help' -f -a '(plimsoll help all 2>/dev/null | string match -rg "^  ([a-z-]+) ")'
complete -c plimsoll -n '__fish_seen_subcommand_from show report compare resume take verify export trend mark serve watch' -a '(__fish_complete_suffix .plimsoll)'
