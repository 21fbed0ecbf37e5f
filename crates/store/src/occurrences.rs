//! What happened at an instant of a run, in a run file.

use crate::file::checksums::{Part, Sums};
use crate::file::values::{Problem, each, number, small, unsigned};
use model::occurrence::{
    MOST_DETAIL_BYTES, MOST_LABEL_BYTES, Occurrence, OccurrenceKind, last_lines, one_line,
};
use rusqlite::{Connection, Transaction, params};

/// No run has more: the coordinator takes fewer.
const MOST: usize = 100_000;

/// Writes one.
pub fn write(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    occurrence: &Occurrence,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO occurrences (kind, stage, at_ns, unix_ns, host, label, detail, \
                  status, duration_ns)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let row = params![
        occurrence.kind.word(),
        occurrence.stage,
        number(occurrence.at_ns),
        number(occurrence.unix_ns),
        occurrence.host,
        occurrence.label,
        occurrence.detail,
        occurrence.status,
        occurrence.duration_ns.map(number)
    ];
    checks.insert(transaction, Part::Occurrences, insert, row)
}

/// All of them, in the order in which they were told; none where the file is from before there were
/// any.
pub fn read(connection: &Connection) -> Result<Vec<Occurrence>, Problem> {
    let known = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'occurrences'";
    let mut occurrences = Vec::new();
    if connection.query_row(known, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(occurrences);
    }
    let query = "SELECT kind, stage, at_ns, unix_ns, host, label, detail, status, duration_ns \
                 FROM occurrences ORDER BY occurrence";
    each(connection, query, |row| {
        if occurrences.len() >= MOST {
            return Err("more happened in it than can".into());
        }
        let word: String = row.get(0)?;
        let kind = OccurrenceKind::ALL.iter().copied().find(|kind| kind.word() == word);
        let (label, detail): (String, String) = (row.get(5)?, row.get(6)?);
        occurrences.push(Occurrence {
            kind: kind.ok_or_else(|| {
                Problem(format!("`{}` is nothing that happens", one_line(&word, 50)))
            })?,
            stage: row.get::<_, Option<i64>>(1)?.map(small).transpose()?,
            at_ns: unsigned(row.get(2)?)?,
            unix_ns: unsigned(row.get(3)?)?,
            host: row.get::<_, Option<i64>>(4)?.map(small).transpose()?,
            label: one_line(&label, MOST_LABEL_BYTES),
            detail: last_lines(&detail, MOST_DETAIL_BYTES),
            status: row.get(7)?,
            duration_ns: row.get::<_, Option<i64>>(8)?.map(unsigned).transpose()?,
        });
        Ok(())
    })?;
    Ok(occurrences)
}
