//! The commands that a first look at the help shows; `plimsoll help all` has every one.

use super::Arguments;
use clap::{Command, CommandFactory};

/// What somebody needs who measures storage day by day, in the order of the help.
const DAILY: [&str; 10] =
    ["run", "loadline", "plan", "watch", "import", "report", "compare", "gate", "resume", "clean"];

/// The arguments with a help that lists the commands of daily use. The others are hidden there
/// alone: completions and man pages are made of [`Arguments::command`].
pub(crate) fn daily() -> Command {
    let command = Arguments::command();
    let heading = *command.get_styles().get_header();
    let others = command.get_subcommands().count() - DAILY.len();
    command
        .mut_subcommands(|one| {
            let is_daily = DAILY.contains(&one.get_name());
            one.hide(!is_daily)
        })
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n\
             {heading}Commands:{heading:#}\n{{subcommands}}\n\n\
             `plimsoll help all` lists {others} more, and the topics of the guide.\n\n\
             {heading}Options:{heading:#}\n{{options}}{{after-help}}"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(mut command: Command) -> Vec<String> {
        let help = command.render_long_help().to_string();
        let rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let rows = rows.take_while(|line| !line.is_empty());
        let names = rows.filter_map(|row| row.strip_prefix("  ")?.split(' ').next());
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn the_short_help_lists_ten_commands_and_the_whole_one_misses_none() {
        assert_eq!(listed(daily()), DAILY, "each is a command, and none beside them is listed");
        let all = Arguments::command();
        let names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
        assert_eq!(listed(all.clone()), names);
        let help = daily().render_help().to_string();
        let others = names.len() - DAILY.len();
        assert!(help.contains(&format!("\n\n`plimsoll help all` lists {others} more")), "{help}");
    }
}
