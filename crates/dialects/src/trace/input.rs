//! A file of any dialect as a stream of requests.

use super::blkparse::Blkparse;
use super::csv::Csv;
use super::iolog::Iolog;
use super::names::Names;
use super::order::Sorter;
use super::{Place, Read, Seen, TraceDialect, TraceEnd, TraceProblem, blktrace};
use crate::packing::{packed, utf16};
use model::trace::{self, Ending, FlightCount, InFlight, MOST, MOST_LENGTH, Request};
use std::io::{self, BufRead};

/// The longest line that is read; what is longer is no trace.
const LONGEST_LINE: usize = 16 << 10;

/// Requests of a trace in the order of their instants, the first one at 0.
pub struct Requests<R: BufRead> {
    source: Source<R>,
    names: Names,
    sorter: Sorter,
    /// The instant of the first request.
    first_ns: Option<i128>,
    wanted: Option<String>,
    /// Of our own form: requests that are read and not handed out.
    own: std::vec::IntoIter<Request>,
    own_first_ns: Option<u64>,
    handed_out: u64,
    flight: FlightCount,
    own_flight: Option<InFlight>,
    end: TraceEnd,
    is_over: bool,
}

/// A request where it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFile {
    /// Its instant by the trace's own clock, in ns; that of the request is 0.
    pub at_ns: i128,
    /// All else.
    pub request: Request,
    /// The line or the record.
    pub place: Place,
}

enum Source<R: BufRead> {
    Own(Box<trace::Reader<R>>),
    Lines { from: R, parser: Parser, line: Vec<u8>, number: u64 },
    Records { from: R, number: u64 },
}

enum Parser {
    Iolog(Iolog),
    Blkparse(Blkparse),
    Csv(Csv),
}

/// What editors and spreadsheets put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: BufRead> Requests<R> {
    /// Begins to read in `dialect`, or in the one that the content tells. `wanted` keeps the
    /// requests of one source alone.
    ///
    /// # Errors
    /// The content tells no dialect, or is not of the one that was named.
    pub fn new(
        mut from: R,
        dialect: Option<TraceDialect>,
        wanted: Option<String>,
    ) -> Result<Requests<R>, TraceProblem> {
        if from.fill_buf().map_err(|error| unreadable(&error))?.starts_with(BYTE_ORDER_MARK) {
            from.consume(BYTE_ORDER_MARK.len());
        }
        let start = from.fill_buf().map_err(|error| unreadable(&error))?;
        if start.is_empty() {
            let remedy = "copy it again, or record it again while the device is loaded";
            return Err(TraceProblem::new("the file is empty", remedy));
        }
        let is_text = dialect.is_none_or(TraceDialect::is_text);
        if let Some((what, remedy)) = packed(start).or(utf16(start)).filter(|_| is_text) {
            return Err(TraceProblem::new(format!("the file is {what}"), remedy));
        }
        let dialect = dialect.or_else(|| TraceDialect::of_content(start)).ok_or_else(|| {
            let all: Vec<&str> = TraceDialect::ALL.iter().map(|one| one.word()).collect();
            let remedy = format!("name the form with --from: {}", all.join(", "));
            TraceProblem::new("its content tells no form of traces", remedy)
        })?;
        let lines =
            |from: R, parser: Parser| Source::Lines { from, parser, line: Vec::new(), number: 0 };
        let source = match dialect {
            TraceDialect::Plimsoll => {
                let reader = trace::Reader::new(from);
                Source::Own(Box::new(reader.map_err(of_trace)?))
            }
            TraceDialect::Iolog => lines(from, Parser::Iolog(Iolog::new())),
            TraceDialect::Blkparse => lines(from, Parser::Blkparse(Blkparse::default())),
            TraceDialect::Blktrace => Source::Records { from, number: 0 },
            csv => lines(from, Parser::Csv(Csv::new(csv))),
        };
        Ok(Requests {
            source,
            names: Names::default(),
            sorter: Sorter::default(),
            first_ns: None,
            wanted,
            own: Vec::new().into_iter(),
            own_first_ns: None,
            handed_out: 0,
            flight: FlightCount::default(),
            own_flight: None,
            end: TraceEnd::default(),
            is_over: false,
        })
    }

    /// What the trace says of itself, if it is one of ours.
    pub fn header(&self) -> Option<&trace::Header> {
        match &self.source {
            Source::Own(reader) => Some(reader.header()),
            _ => None,
        }
    }

    /// How it ended, once all of it was read.
    pub fn end(&self) -> TraceEnd {
        self.end
    }

    /// How many requests the device had at once, once all of it was read; `None` where the trace
    /// does not say, and of a part of one of ours.
    pub fn in_flight(&self) -> Option<InFlight> {
        match &self.source {
            Source::Own(_) => self.own_flight.filter(|_| self.wanted.is_none()),
            _ => self.flight.seen(),
        }
    }

    /// Some of the sources that were met.
    pub fn sources(&self) -> Vec<String> {
        self.names.some(8).into_iter().map(str::to_owned).collect()
    }

    /// The next request and its place; `None` at the end.
    ///
    /// # Errors
    /// What is wrong, where, and the remedy.
    pub fn next_request(&mut self) -> Result<Option<(Request, Place)>, TraceProblem> {
        if matches!(self.source, Source::Own(_)) {
            return self.next_of_own();
        }
        while !self.is_over && !self.sorter.is_full() {
            match self.read()? {
                None => self.is_over = true,
                Some((Read::Request(seen), place)) => self.put(seen, place)?,
                Some((Read::LeftOut, _)) => self.end.left_out += 1,
                Some((Read::Nothing, _)) => {}
            }
        }
        self.end.sorted = self.sorter.sorted();
        let Some((seen, place)) = self.sorter.take() else { return Ok(None) };
        let first_ns = *self.first_ns.get_or_insert(seen.at_ns);
        let at_ns = u64::try_from(seen.at_ns - first_ns).ok().filter(|at_ns| *at_ns <= MOST);
        let at_ns = at_ns.ok_or_else(|| {
            TraceProblem::new("its instant is out of range", "look at the line").at(place)
        })?;
        let Seen { op, offset, length, source, .. } = seen;
        self.flight.sent(seen.at_ns, seen.took_ns);
        // It was looked at when it went in.
        let length = u32::try_from(length).unwrap_or(MOST_LENGTH);
        Ok(Some((Request { at_ns, op, offset, length, source }, place)))
    }

    /// The next request as the file has it, whatever its instant; `None` at the end. Not to be
    /// mixed with [`Self::next_request`].
    ///
    /// # Errors
    /// What is wrong, where, and the remedy.
    pub fn next_in_file(&mut self) -> Result<Option<InFile>, TraceProblem> {
        if matches!(self.source, Source::Own(_)) {
            let next = self.next_of_own()?;
            return Ok(next.map(|(request, place)| InFile {
                at_ns: request.at_ns.into(),
                request: Request { at_ns: 0, ..request },
                place,
            }));
        }
        while let Some((read, place)) = self.read()? {
            match read {
                Read::Request(seen) if self.is_taken(&seen, place)? => {
                    self.sorter.pass(seen.at_ns);
                    self.end.sorted = self.sorter.sorted();
                    let Seen { at_ns, op, offset, length, source, .. } = seen;
                    // It was looked at.
                    let length = u32::try_from(length).unwrap_or(MOST_LENGTH);
                    let request = Request { at_ns: 0, op, offset, length, source };
                    return Ok(Some(InFile { at_ns, request, place }));
                }
                Read::LeftOut => self.end.left_out += 1,
                Read::Request(_) | Read::Nothing => {}
            }
        }
        Ok(None)
    }

    /// Takes in a request if it is of the wanted source, and can be sent.
    fn put(&mut self, seen: Seen, place: Place) -> Result<(), TraceProblem> {
        if self.is_taken(&seen, place)? { self.sorter.put(seen, place) } else { Ok(()) }
    }

    /// Whether a request is of the wanted source, and can be sent.
    fn is_taken(&mut self, seen: &Seen, place: Place) -> Result<bool, TraceProblem> {
        if let Some(wanted) = &self.wanted
            && self.names.find(wanted) != Some(seen.source)
        {
            return Ok(false);
        }
        if seen.op != model::Op::Fsync && seen.length == 0 {
            self.end.left_out += 1;
            return Ok(false);
        }
        let ends = seen.offset.checked_add(seen.length).is_some_and(|end| end <= MOST);
        if seen.length > MOST_LENGTH.into() || !ends {
            let what = format!("a request of {} bytes at {} cannot be", seen.length, seen.offset);
            return Err(
                TraceProblem::new(what, "look at the line, or name the form with --from").at(place)
            );
        }
        Ok(true)
    }

    fn next_of_own(&mut self) -> Result<Option<(Request, Place)>, TraceProblem> {
        let wanted = match &self.wanted {
            None => None,
            Some(text) => Some(text.parse::<u32>().map_err(|_| {
                TraceProblem::new(
                    format!("`{text}` is no source of a trace of ours"),
                    "sources of these are numbers from 0",
                )
            })?),
        };
        loop {
            for request in self.own.by_ref() {
                self.handed_out += 1;
                if wanted.is_none_or(|wanted| wanted == request.source) {
                    let first_ns = *self.own_first_ns.get_or_insert(request.at_ns);
                    let at_ns = request.at_ns - first_ns;
                    return Ok(Some((
                        Request { at_ns, ..request },
                        Place::Request(self.handed_out),
                    )));
                }
            }
            let Source::Own(reader) = &mut self.source else { return Ok(None) };
            let mut block = Vec::new();
            if !reader.next_block(&mut block).map_err(of_trace)? {
                match reader.ending() {
                    Some(Ending::Whole(totals)) => {
                        self.end.lost = totals.lost;
                        self.end.left_out = totals.left_out;
                        self.own_flight = totals.in_flight;
                    }
                    _ => self.end.is_cut_off = true,
                }
                return Ok(None);
            }
            self.own = block.into_iter();
        }
    }

    /// What the next line or record comes to; `None` at the end.
    fn read(&mut self) -> Result<Option<(Read, Place)>, TraceProblem> {
        match &mut self.source {
            Source::Own(_) => Ok(None),
            Source::Lines { from, parser, line, number } => {
                line.clear();
                *number += 1;
                let place = Place::Line(*number);
                let is_whole = next_line(from, line).map_err(|problem| problem.at(place))?;
                if line.is_empty() && !is_whole {
                    return Ok(None);
                }
                let text = String::from_utf8_lossy(line);
                let text = text.trim();
                if text.is_empty() {
                    return Ok(Some((Read::Nothing, place)));
                }
                let names = &mut self.names;
                let read = match parser {
                    Parser::Iolog(parser) => parser.line(text, names),
                    Parser::Blkparse(parser) => parser.line(text, names),
                    Parser::Csv(parser) => parser.line(text, names),
                };
                match read {
                    // Half a word is none that is known.
                    Ok(Read::LeftOut) if !is_whole && *number > 1 => {
                        self.end.is_cut_off = true;
                        Ok(None)
                    }
                    Ok(read) => Ok(Some((read, place))),
                    // The last line of a file that was cut off.
                    Err(_) if !is_whole && *number > 1 => {
                        self.end.is_cut_off = true;
                        Ok(None)
                    }
                    Err(problem) => Err(problem.at(place)),
                }
            }
            Source::Records { from, number } => {
                *number += 1;
                let place = Place::Request(*number);
                let mut record = [0; blktrace::RECORD];
                match fill(from, &mut record)? {
                    0 => return Ok(None),
                    got if got < record.len() => {
                        self.end.is_cut_off = true;
                        return Ok(None);
                    }
                    _ => {}
                }
                let read = blktrace::record(&record, &mut self.names);
                let (read, behind) = read.map_err(|problem| problem.at(place))?;
                skip(from, behind)?;
                Ok(Some((read, place)))
            }
        }
    }
}

fn unreadable(error: &io::Error) -> TraceProblem {
    TraceProblem::new(format!("it cannot be read: {error}"), "check the path and its permissions")
}

fn of_trace(error: trace::TraceError) -> TraceProblem {
    match error {
        trace::TraceError::NoTrace => {
            TraceProblem::new("it is no trace of Plimsoll", "name its form with --from")
        }
        trace::TraceError::NoHeader => {
            TraceProblem::new("it ends before its header does", "record it again")
        }
        trace::TraceError::Damaged { at_byte } => TraceProblem::new(
            format!("the block at byte {at_byte} is damaged"),
            "copy the file again, or record it again",
        ),
        trace::TraceError::Io(error) => unreadable(&error),
    }
}

/// Appends the next line without its end; false where the file ends before the line does.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, TraceProblem> {
    loop {
        let buffer = match from.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(&error)),
        };
        if buffer.is_empty() {
            return Ok(false);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        if line.len() + taken > LONGEST_LINE {
            return Err(TraceProblem::new(
                format!("the line is longer than {LONGEST_LINE} bytes"),
                "name a trace, or its form with --from",
            ));
        }
        line.extend_from_slice(&buffer[..taken]);
        from.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn fill(from: &mut impl BufRead, bytes: &mut [u8]) -> Result<usize, TraceProblem> {
    let mut at = 0;
    while at < bytes.len() {
        match from.read(&mut bytes[at..]) {
            Ok(0) => break,
            Ok(more) => at += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    Ok(at)
}

fn skip(from: &mut impl BufRead, mut count: usize) -> Result<(), TraceProblem> {
    let mut piece = [0; 256];
    while count > 0 {
        let most = count.min(piece.len());
        match fill(from, &mut piece[..most])? {
            0 => return Ok(()),
            got => count -= got,
        }
    }
    Ok(())
}
