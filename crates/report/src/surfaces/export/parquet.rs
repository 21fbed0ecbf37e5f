//! Tables as Parquet (<https://parquet.apache.org/docs/file-format/>): every column may be empty,
//! pages are compressed with Snappy.

use super::{Cell, Column, Kind, Sink, Table};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are held until they are written together.
const GROUP_ROWS: usize = 1 << 16;

/// Writes Parquet; one table, for its file has no room for a second.
pub struct Parquet<W: Write + Send> {
    state: State<W>,
    kinds: Vec<Kind>,
    /// By column.
    held: Vec<Vec<Cell>>,
}

enum State<W: Write + Send> {
    /// No table yet.
    Empty(W),
    /// A table that goes on.
    Open(SerializedFileWriter<W>),
    /// Nothing more can be written.
    Over,
}

impl<W: Write + Send> Parquet<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Parquet<W> {
        Parquet { state: State::Empty(out), kinds: Vec::new(), held: Vec::new() }
    }

    fn write_held(&mut self) -> io::Result<()> {
        let State::Open(file) = &mut self.state else {
            return Err(io::Error::other("no table was begun"));
        };
        if self.held.first().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let mut group = file.next_row_group().map_err(failed)?;
        for (kind, cells) in self.kinds.iter().zip(&mut self.held) {
            write_column(&mut group, *kind, cells).map_err(failed)?;
            cells.clear();
        }
        group.close().map_err(failed)?;
        Ok(())
    }
}

impl<W: Write + Send> Sink for Parquet<W> {
    fn begin(&mut self, table: Table, columns: &[Column]) -> io::Result<()> {
        let State::Empty(out) = std::mem::replace(&mut self.state, State::Over) else {
            return Err(io::Error::other("a file of Parquet has room for one table"));
        };
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = schema(table, columns).map_err(failed)?;
        self.state = State::Open(
            SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?,
        );
        self.kinds = columns.iter().map(|column| column.kind).collect();
        self.held = vec![Vec::new(); columns.len()];
        Ok(())
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        for (column, cell) in self.held.iter_mut().zip(cells) {
            column.push(cell.clone());
        }
        if self.held.first().is_some_and(|column| column.len() >= GROUP_ROWS) {
            self.write_held()
        } else {
            Ok(())
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write_held()?;
        match std::mem::replace(&mut self.state, State::Over) {
            State::Open(file) => file.into_inner().map_err(failed)?.flush(),
            State::Empty(_) | State::Over => Ok(()),
        }
    }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => io::Error::other(inner),
        error => io::Error::other(error),
    }
}

fn schema(table: Table, columns: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
        };
        let builder = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder(table.name()).with_fields(fields).build().map(Arc::new)
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: Kind,
    cells: &[Cell],
) -> Result<(), ParquetError> {
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
    // A cell of another kind than its column's would be nothing.
    macro_rules! write {
        ($of:ty, $value:expr) => {{
            let values: Vec<Option<_>> = cells.iter().map($value).collect();
            let there: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let values: Vec<_> = values.into_iter().flatten().collect();
            column.typed::<$of>().write_batch(&values, Some(&there), None)?;
        }};
    }
    match kind {
        Kind::Text => write!(ByteArrayType, |cell| match cell {
            Cell::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
        Kind::Integer => write!(Int64Type, |cell| match cell {
            Cell::Integer(value) => Some(Cell::integer(*value)),
            _ => None,
        }),
        Kind::Real => write!(DoubleType, |cell| match cell {
            Cell::Real(value) => Some(*value),
            _ => None,
        }),
    }
    column.close()
}
