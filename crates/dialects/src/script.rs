//! Scripts that hold lines of the tools, of a shell, PowerShell or Windows' batch files, and texts
//! of such lines alone: each line is imported by itself, once for each turn of a loop.

mod commands;
mod here;
mod lines;

use crate::import::{Import, ImportError, SuiteText, World};
use crate::loss::{Class, ReportedOption};
use crate::{Dialect, import_command, shell};
use commands::{Command, commands};
use here::Here;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// No script has more lines of tools.
const MOST_LINES: usize = 500;

/// Tools whose lines are understood.
const TOOLS: [&str; 6] = ["fio", "ior", "mdtest", "diskspd", "elbencho", "iozone"];

/// Words that may stand before a tool.
const BEFORE: [&str; 16] = [
    "sudo",
    "time",
    "exec",
    "nohup",
    "numactl",
    "taskset",
    "env",
    "mpirun",
    "mpiexec",
    "srun",
    "mpiexec.hydra",
    "prun",
    "aprun",
    "jsrun",
    "orterun",
    "nice",
];

/// Whether a text is a script with lines of the tools.
pub fn detect(text: &str) -> bool {
    let holds = |one: &Command| tool(&one.text).is_some() || one.here.as_ref().is_some_and(is_job);
    (text.starts_with("#!") && commands(text, &|_| None).iter().any(holds))
        || here::of_manifest(text).iter().any(|(_, here)| is_job(here))
}

/// Whether a text in a script is a job file. A script in a script is none.
fn is_job(here: &Here) -> bool {
    !here.text.starts_with("#!")
        && here::of_manifest(&here.text).is_empty()
        && crate::detect(&here.text).is_some()
}

/// Whether a text that is nothing else holds lines of the tools with options: a script without its
/// first line, one of Windows, or a list of commands.
pub fn detect_lines(text: &str) -> bool {
    let holds = |one: &Command| is_line(text, &one.text) || one.here.as_ref().is_some_and(is_job);
    !text.contains('\0') && commands(text, &|_| None).iter().any(holds)
}

/// Whether a command is a line of a tool. In a script of a shell it begins with one; in other texts
/// an option must follow, because prose begins with the name of a tool as well.
fn is_line(text: &str, command: &str) -> bool {
    let is_option = |word: &str| {
        let mut letters = word.trim_matches(['"', '\'']).chars();
        let begins = letters.next().is_some_and(|first| ['-', '/'].contains(&first));
        begins && letters.next().is_some_and(|second| second == '-' || second.is_alphanumeric())
    };
    let words = || command.split_whitespace();
    let behind = words().position(|word| tool(word).is_some()).unwrap_or(0) + 1;
    let has_option = words().nth(behind).is_some_and(is_option);
    (text.starts_with("#!") || has_option) && tool(command).is_some()
}

/// Every line of a tool in a script.
///
/// # Errors
/// There is none, or too many.
pub fn file(name: &str, text: &str, world: &World<'_>) -> Result<Import, ImportError> {
    let texts = here::of_manifest(text);
    if !texts.is_empty() {
        let mut reader = Reader::new(name, world);
        texts.iter().filter(|(_, here)| is_job(here)).for_each(|(key, here)| reader.job(key, here));
        return Ok(reader.done());
    }
    let all = commands(text, &|name| world.plain_variable(name));
    let holds = |one: &&Command| is_line(text, &one.text) || one.here.as_ref().is_some_and(is_job);
    let lines: Vec<&Command> = all.iter().filter(holds).collect();
    if lines.is_empty() || lines.len() > MOST_LINES {
        let what = format!("it has {} lines of tools that are understood", lines.len());
        let remedy = format!("name a script with 1 to {MOST_LINES} of them");
        return Err(ImportError::new(name, what, remedy));
    }
    let mut reader = Reader::new(name, world);
    for command in lines {
        match &command.here {
            Some(here) if is_job(here) && !is_line(text, &command.text) => reader.keep(here),
            _ => reader.line(command),
        }
    }
    // What no line of a tool takes is imported by itself.
    for kept in std::mem::take(&mut reader.kept) {
        if !kept.is_taken {
            let name = kept.here.path.clone().unwrap_or_else(|| format!("line-{}", kept.here.line));
            reader.job(&name, &kept.here);
        }
    }
    Ok(reader.done())
}

/// A job file that a script writes, and whether a line of a tool takes it.
struct Kept {
    here: Here,
    is_taken: bool,
}

/// A script while it is read.
struct Reader<'a> {
    name: &'a str,
    world: &'a World<'a>,
    kept: Vec<Kept>,
    options: Vec<ReportedOption>,
    suites: Vec<SuiteText>,
    /// How often each line was run: loops run some again and again.
    turns: BTreeMap<usize, usize>,
}

impl<'a> Reader<'a> {
    fn new(name: &'a str, world: &'a World<'a>) -> Reader<'a> {
        let (options, suites) = (Vec::new(), Vec::new());
        Reader { name, world, kept: Vec::new(), options, suites, turns: BTreeMap::new() }
    }

    fn done(self) -> Import {
        let (options, suites) = (self.options, self.suites);
        Import { dialect: "script", options, suites, variables: Vec::new() }
    }

    /// Keeps a job file that is written. A file that is written again is a new one.
    fn keep(&mut self, here: &Here) {
        if self.kept.len() < MOST_LINES {
            self.kept.push(Kept { here: here.clone(), is_taken: false });
        }
    }

    fn line(&mut self, command: &Command) {
        let place = format!("{}:{}", self.name, command.line);
        let found = tool(&command.text).unwrap_or_default();
        let taken: RefCell<Option<usize>> = RefCell::new(None);
        let kept = &self.kept;
        let file = |path: &str| {
            let is_it = |one: &Kept| one.here.path.as_deref() == Some(path);
            match kept.iter().rposition(is_it) {
                Some(at) => {
                    *taken.borrow_mut() = Some(at);
                    Ok(kept[at].here.text.clone())
                }
                None => (self.world.file)(path),
            }
        };
        let world = World { file: &file, variable: self.world.variable };
        let import = import_command(&command.text, None, &world);
        if let Some(at) = taken.into_inner() {
            self.kept[at].is_taken = true;
        }
        self.take(import, found, command.line, &place);
    }

    /// A job file within the script.
    fn job(&mut self, name: &str, here: &Here) {
        let place = format!("{}:{}", self.name, here.line);
        let dialect = crate::detect(&here.text);
        let found = dialect.map_or("job", Dialect::word).to_owned();
        let import = crate::import(name, &here.text, dialect, self.world);
        self.take(import, found, here.line, &place);
    }

    fn take(
        &mut self,
        import: Result<Import, ImportError>,
        found: String,
        line: usize,
        place: &str,
    ) {
        let turn = self.turns.entry(line).and_modify(|turn| *turn += 1).or_insert(1);
        match import {
            Ok(import) => {
                let name = match *turn {
                    1 => format!("{found}-line-{line}"),
                    turn => format!("{found}-line-{line}-{turn}"),
                };
                self.options.extend(import.options.into_iter().map(|told| placed(told, place)));
                let named = |suite: SuiteText| named(&suite, &name, place);
                self.suites.extend(import.suites.into_iter().map(named));
            }
            Err(error) => self.options.push(ReportedOption {
                name: found,
                value: String::new(),
                place: place.to_owned(),
                class: Class::Refused,
                why: format!("{}; {}", error.what, error.remedy),
            }),
        }
    }
}

fn placed(told: ReportedOption, place: &str) -> ReportedOption {
    let has_variable = told.value.contains('$') || told.name.contains('$');
    let (class, why) = match has_variable {
        true => (
            Class::Refused,
            "a variable of the script that is not known here; set it in the environment".to_owned(),
        ),
        false => (told.class, told.why),
    };
    ReportedOption { place: format!("{place} {}", told.place), class, why, ..told }
}

/// A suite of one line among others has a name of its own.
fn named(suite: &SuiteText, name: &str, place: &str) -> SuiteText {
    let old = format!("name = \"{}\"\n", suite.name);
    let text = suite.text.replacen(&old, &format!("name = \"{name}\"\n"), 1);
    SuiteText { text: format!("# {place}\n{text}"), name: name.to_owned() }
}

/// The tool of a command, where one is understood.
fn tool(text: &str) -> Option<String> {
    let is_of_windows = text.len() < 1 << 16 && text.to_ascii_lowercase().contains("diskspd");
    let words = match is_of_windows {
        true => shell::windows_words(text).ok()?,
        false => shell::words(text).ok()?,
    };
    let base = |word: &str| {
        let word = word.trim_matches(['\'', '"']);
        let base = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
        base.trim_end_matches(".exe").to_owned()
    };
    let is_set = |word: &str| word.contains('=') && !word.starts_with('-');
    let first = words.iter().find(|word| !is_set(word))?;
    let is_tool = |word: &str| TOOLS.contains(&base(word).as_str());
    if is_tool(first) {
        return Some(base(first));
    }
    // Behind a launcher with its options.
    let behind = BEFORE.contains(&base(first).as_str());
    let found = words.iter().take(40).find(|word| is_tool(word)).filter(|_| behind)?;
    let found = base(found);
    found.parse::<Dialect>().ok().map(|_| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "#!/bin/bash\n# fio --name=not\nSIZE=4g\nDIR=\"/data\"\nset -e\n\
        sudo fio --name=a --rw=read --bs=1m \\\n  --size=$SIZE --directory=${DIR} > out.txt\n\
        mpirun -np 4 ./ior -w -r -b 1g -t 1m -o $DIR/f | tee log\n\
        echo fio\niozone -i 0 -s 1g -t 2 -f $UNKNOWN/x; sync\n";

    #[test]
    fn every_line_of_a_tool_is_imported_with_its_place() {
        assert!(detect(SCRIPT) && !detect("#!/bin/sh\necho fio\n"));
        let import = file("run.sh", SCRIPT, &World::NOTHING).expect("a script");
        let names: Vec<&str> = import.suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["fio-line-6", "ior-line-8", "iozone-line-10"]);
        assert!(import.suites[0].text.contains("name = \"fio-line-6\""));
        assert!(import.suites[0].text.contains("\"/data/plimsoll-data\""));
        assert!(import.suites[0].text.contains("size = \"4GiB\""));
        assert!(import.options.iter().any(|told| told.place == "run.sh:8 word 2"));
        let refused: Vec<&ReportedOption> = import.refused().collect();
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].value.contains("$UNKNOWN"), "{refused:?}");
        assert!(file("a.sh", "#!/bin/sh\necho\n", &World::NOTHING).is_err());
    }

    #[test]
    fn job_files_that_a_script_writes_are_imported() {
        let text = "#!/bin/sh\nBS=8k\nsudo cat << EOF > /tmp/a.vdb\nsd=s1,lun=/dev/sdb\n\
            wd=w,sd=s1,xfersize=$BS\nrd=r,wd=w,iorate=max,elapsed=10\nEOF\n./vdbench -f \
            /tmp/a.vdb\nfor d in 1 4; do\ncat <<E2 > j.fio\n[global]\nbs=${BS}\nrw=randread\n\
            filename=/dev/sdc\n[a]\nnumjobs=$d\nE2\nsudo fio --runtime=5 --time_based j.fio\n\
            done\n";
        assert!(detect(text));
        let import = file("x.sh", text, &World::NOTHING).expect("a script");
        let refused: Vec<&ReportedOption> = import.refused().collect();
        assert!(refused.is_empty(), "{refused:?}");
        let names: Vec<&str> = import.suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["fio-line-18", "fio-line-18-2", "vdbench-line-4"]);
        for (suite, word) in import.suites.iter().zip(["workers = 1", "workers = 4", "\"8KiB\""]) {
            assert!(suite.text.contains(word), "{}", suite.text);
        }
        assert!(import.suites[1].text.contains("\"8KiB\"") && import.suites[1].text.contains("5s"));
    }

    #[test]
    fn texts_in_texts_and_without_an_end_take_no_long_time() {
        let deep: String = (0..2_000).map(|number| format!("#!\ncat <<E{number}\n")).collect();
        let ends: String = (0..2_000).rev().map(|number| format!("E{number}\n")).collect();
        let open = format!("#!/bin/sh\n{}", "cat <<EOF\n".repeat(5_000));
        let wide = format!(
            "#!/bin/sh\nX={}\nfor a in {{1..30}}; do\nfor b in {{1..30}}; do\ncat <<E\n{}E\ndone\n\
             done\n",
            "x".repeat(4_000),
            "$X\n".repeat(100)
        );
        for text in [deep + &ends, open, wide] {
            assert!(!detect(&text) && !detect_lines(&text));
            assert!(file("x.sh", &text, &World::NOTHING).is_err());
        }
    }

    #[test]
    fn job_files_in_a_manifest_are_imported() {
        let text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a.fio: |\n    [global]\n    \
            rw=read\n    [a]\n    filename=/dev/sdb\n  vd: |\n    *c\n    sd=s,lun=/dev/sdc\n    \
            wd=w,sd=s\n    rd=r,wd=w,iorate=max\n";
        assert!(crate::is_job(text));
        let import = crate::import("m.yaml", text, None, &World::NOTHING).expect("a manifest");
        let names: Vec<&str> = import.suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["fio-line-5", "vdbench-line-10"]);
        assert_eq!(import.refused().count(), 0);
    }

    fn tools(text: &str) -> Vec<(String, Vec<String>)> {
        let import = file("x", text, &World::NOTHING).expect("a script");
        let refused: Vec<String> = import.refused().map(|told| told.why.clone()).collect();
        import.suites.iter().map(|suite| (suite.name.clone(), refused.clone())).collect()
    }

    #[test]
    fn loops_lists_and_defaults_are_put_in() {
        let text = "#!/bin/bash\nSIZES=(4k 64k)\nRT=${RT:-30}\nfor bs in \"${SIZES[@]}\"; do\n\
            for d in 1 8\ndo\nfio --name=a --rw=read --ioengine=libaio --bs=$bs --iodepth=$d \
            --runtime=$RT \
            --filename=/dev/x\ndone\ndone\nfor h in $HOSTS; do fio --name=$h \
            --filename=/dev/x; done\n";
        let all = tools(text);
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let turns = ["fio-line-7", "fio-line-7-2", "fio-line-7-3", "fio-line-7-4", "fio-line-10"];
        assert_eq!(names, turns);
        let import = file("x", text, &World::NOTHING).expect("a script");
        assert!(import.suites[3].text.contains("\"64KiB\""), "{}", import.suites[3].text);
        assert!(
            import.suites[3].text.contains("depth = 8") && import.suites[0].text.contains("30s")
        );
        // The hosts are not known, and said so.
        assert_eq!(import.refused().count(), 1, "{:?}", import.refused().collect::<Vec<_>>());
    }

    #[test]
    fn scripts_of_windows_are_read() {
        let batch = "@echo off\r\nREM diskspd -x\r\nset SIZE=10G\r\n\
            for %%b in (4K 64K) do C:\\tools\\DiskSpd.exe -b%%b /d30 /Sh -c%SIZE% E:\\t.dat > \
            %%b.txt\r\n";
        assert!(detect_lines(batch) && !detect(batch));
        let all = tools(batch);
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all[0].1, Vec::<String>::new());
        let import = file("x", batch, &World::NOTHING).expect("a script");
        assert!(import.suites[1].text.contains("64KiB") && import.suites[1].text.contains("10GiB"));
        let power = "$exe = \"C:\\d\\diskspd.exe\"\n$blocks = @(\"8K\", \"64K\")\n# diskspd -x\n\
            foreach ($b in $blocks) {\n  $out = & $exe -b$b -d60 -o8 -t4 `\n    -w30 -r -Sh \
            E:\\t.dat\n}\n";
        assert!(detect_lines(power));
        let all = tools(power);
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all[0].1, Vec::<String>::new());
    }

    #[test]
    fn parameters_of_powershell_have_their_defaults() {
        let text = "<#\n.Synopsis\n diskspd -x\n#>\nparam (\n[Parameter(mandatory = \
            $false)]$Tpath = \"c:\\vol\\io.dat\",\n[int]$Tsec = 30,\n[int]$TThread = 18\n)\n\
            Invoke-Expression \"C:\\diskspd\\diskspd.exe -b8K -d$Tsec -h -o2 -t$TThread -c100M \
            $Tpath\"\n";
        assert!(detect_lines(text));
        let import = file("x.ps1", text, &World::NOTHING).expect("a script");
        assert_eq!(import.refused().count(), 0, "{:?}", import.refused().collect::<Vec<_>>());
        let suite = &import.suites[0].text;
        assert!(suite.contains("measure = \"30s\"") && suite.contains("workers = 18"), "{suite}");
    }

    #[test]
    fn a_list_of_commands_is_a_script_and_prose_is_none() {
        assert!(detect_lines("fio --name=a --rw=read\nfio --name=b\n"));
        assert!(detect_lines("# how to\nsudo ior -a POSIX -w\n"));
        assert!(!detect_lines("<#\nDiskSpd - a tool\ndiskspd -b4K x\n#>\nDISKSPD - VM Fleet\n"));
        assert!(!detect_lines("fio is a tool\nuse diskspd\n"));
        assert!(!detect_lines("#!/bin/sh\necho fio -x\n"));
    }
}
