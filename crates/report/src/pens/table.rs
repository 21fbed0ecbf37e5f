//! A table that is declared once: what stands in each column for people, and for machines.

use super::json::{Map, Value, json};
use super::terminal::{self, Column as Drawn, Want};
use crate::ground::markup::{Markup, classed, element, plain, under};
use serde::Serialize;

/// What a cell has that has no figure.
pub fn dash() -> String {
    "–".to_owned()
}

/// What people read in one row of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    words: String,
    /// Words that a page shows in another form.
    markup: Option<Markup>,
    class: Option<&'static str>,
    title: Option<String>,
}

impl Cell {
    /// The same with another class on a page than that of its column.
    pub fn classed(self, class: &'static str) -> Cell {
        Cell { class: Some(class), ..self }
    }

    /// The same with what a pointer on a page shows.
    pub fn titled(self, title: impl Into<String>) -> Cell {
        Cell { title: Some(title.into()), ..self }
    }

    /// The same, which a page shows in another form.
    pub fn shown(self, markup: Markup) -> Cell {
        Cell { markup: Some(markup), ..self }
    }

    fn drawn(&self, sort: Sort, class: Option<&str>) -> Markup {
        let (name, mut attributes) = match sort {
            Sort::Name => ("th", vec![("scope", "row")]),
            Sort::Words | Sort::Figure => ("td", Vec::new()),
        };
        attributes.extend(self.class.or(class).map(|class| ("class", class)));
        attributes.extend(self.title.as_deref().map(|title| ("title", title)));
        let words = || Markup::from(&self.words);
        element(name, &attributes, self.markup.clone().unwrap_or_else(words))
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Cell {
        Cell { words, ..Cell::default() }
    }
}

impl From<&String> for Cell {
    fn from(words: &String) -> Cell {
        Cell::from(words.clone())
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Cell {
        Cell::from(words.to_owned())
    }
}

impl From<Markup> for Cell {
    fn from(markup: Markup) -> Cell {
        Cell { markup: Some(markup), ..Cell::default() }
    }
}

/// Of what is not known, there is a dash.
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(known: Option<T>) -> Cell {
        known.map_or_else(|| Cell::from(dash()), Into::into)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// What the rows are called.
    Name,
    Words,
    Figure,
}

/// Who has a column that has a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    Both,
    Page,
    Terminal,
}

/// A column: for people if it has a head, for machines if it has a key.
#[derive(Clone, Debug)]
struct Column {
    head: Option<String>,
    /// Its head on a page, if it is another.
    title: Option<String>,
    face: Face,
    sort: Sort,
    class: Option<&'static str>,
    cells: Vec<Cell>,
    want: Want,
    called: Option<String>,
    key: &'static str,
    values: Vec<Value>,
}

impl Column {
    fn new(sort: Sort, class: Option<&'static str>) -> Column {
        let (head, title, face, want, called) = (None, None, Face::Both, Want::Whole, None);
        let (cells, key, values) = (Vec::new(), "", Vec::new());
        Column { head, title, face, sort, class, cells, want, called, key, values }
    }
}

/// How a page has the heads of columns of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heads {
    /// With an empty class.
    Classed,
    /// Without a class.
    Bare,
    /// No cell has any attribute.
    Plain,
}

/// A table with a row for each `R`.
#[derive(Clone, Debug)]
pub struct Table<R> {
    rows: Vec<R>,
    columns: Vec<Column>,
    class: &'static str,
    caption: Option<Markup>,
    heads: Heads,
    are_capitals: bool,
}

impl<R: Copy> Table<R> {
    /// Without columns yet.
    pub fn of(rows: impl IntoIterator<Item = R>) -> Table<R> {
        let rows = rows.into_iter().collect();
        let (columns, caption, heads) = (Vec::new(), None, Heads::Classed);
        Table { rows, columns, class: "", caption, heads, are_capitals: false }
    }

    /// A column with the name of each row.
    pub fn name<C: Into<Cell>>(self, head: impl Into<String>, cell: impl Fn(R) -> C) -> Self {
        self.column(head.into(), Sort::Name, None, cell)
    }

    /// A column of words.
    pub fn words<C: Into<Cell>>(self, head: impl Into<String>, cell: impl Fn(R) -> C) -> Self {
        self.column(head.into(), Sort::Words, None, cell)
    }

    /// A column of figures.
    pub fn figure<C: Into<Cell>>(self, head: impl Into<String>, cell: impl Fn(R) -> C) -> Self {
        self.column(head.into(), Sort::Figure, Some("number"), cell)
    }

    /// A column of figures, for people in words, for machines under `key`.
    pub fn known<T: Serialize, V: Into<Option<T>>>(
        self,
        key: &'static str,
        head: impl Into<String>,
        value: impl Fn(R) -> V,
        say: impl Fn(T) -> String,
    ) -> Self {
        let values: Vec<Option<T>> = self.rows.iter().map(|row| value(*row).into()).collect();
        self.figure(head, |_| "").last(|column| {
            column.key = key;
            column.values = values.iter().map(|value| json!(value)).collect();
            column.cells = values.into_iter().map(|value| value.map(&say).into()).collect();
        })
    }

    /// A column for machines alone.
    pub fn field<V: Serialize>(mut self, key: &'static str, value: impl Fn(R) -> V) -> Self {
        let values = self.rows.iter().map(|row| json!(value(*row))).collect();
        self.columns.push(Column { key, values, ..Column::new(Sort::Figure, None) });
        self
    }

    fn column<C: Into<Cell>>(
        mut self,
        head: String,
        sort: Sort,
        class: Option<&'static str>,
        cell: impl Fn(R) -> C,
    ) -> Self {
        let cells = self.rows.iter().map(|row| cell(*row).into()).collect();
        self.columns.push(Column { head: Some(head), cells, ..Column::new(sort, class) });
        self
    }
}

impl<R> Table<R> {
    fn last(mut self, change: impl FnOnce(&mut Column)) -> Self {
        if let Some(column) = self.columns.last_mut() {
            change(column);
        }
        self
    }

    /// The last column has cells of this class on a page.
    pub fn class(self, class: &'static str) -> Self {
        self.last(|column| column.class = Some(class))
    }

    /// The head of the last column on a page.
    pub fn titled(self, head: impl Into<String>) -> Self {
        self.last(|column| column.title = Some(head.into()))
    }

    /// No terminal has the last column.
    pub fn on_page(self) -> Self {
        self.last(|column| column.face = Face::Page)
    }

    /// No page has the last column.
    pub fn on_terminal(self) -> Self {
        self.last(|column| column.face = Face::Terminal)
    }

    pub(crate) fn want(self, want: Want) -> Self {
        self.last(|column| column.want = want)
    }

    /// What the last column is called where it is left out.
    pub fn called(self, name: impl Into<String>) -> Self {
        self.last(|column| column.called = Some(name.into()))
    }

    /// Machines have the words of the last column under this key.
    pub fn key(self, key: &'static str) -> Self {
        self.last(|column| {
            column.key = key;
            column.values = column.cells.iter().map(|cell| json!(cell.words)).collect();
        })
    }

    /// A page has it with this class.
    pub fn of_class(self, class: &'static str) -> Self {
        Table { class, ..self }
    }

    /// A page has heads without classes.
    pub fn bare(self) -> Self {
        Table { heads: Heads::Bare, ..self }
    }

    /// A page has heads and cells without attributes.
    pub fn plain(self) -> Self {
        Table { heads: Heads::Plain, ..self }
    }

    /// A page has heads that begin with a capital.
    pub fn capitals(self) -> Self {
        Table { are_capitals: true, ..self }
    }

    /// A page has these words above it.
    pub fn caption(self, words: impl Into<Markup>) -> Self {
        Table { caption: Some(words.into()), ..self }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns of a face, with their heads.
    fn shown<'a>(&'a self, face: Face) -> impl Iterator<Item = (&'a Column, &'a str)> {
        let has = move |column: &&Column| column.face == Face::Both || column.face == face;
        let headed = |column: &'a Column| Some((column, column.head.as_deref()?));
        self.columns.iter().filter(has).filter_map(headed)
    }

    /// For a page.
    pub fn html(&self) -> Markup {
        let head = |(column, head): (&Column, &str)| {
            let class = if column.sort == Sort::Figure { "number" } else { "" };
            let count = match self.heads {
                Heads::Plain => 0,
                Heads::Bare if class.is_empty() => 1,
                Heads::Bare | Heads::Classed => 2,
            };
            let head = match &column.title {
                Some(title) => title.clone(),
                None if self.are_capitals => capital(head),
                None => head.to_owned(),
            };
            element("th", &[("scope", "col"), ("class", class)][..count], head)
        };
        let row = |number: usize| {
            let cell = |(column, _): (&Column, &str)| {
                let cell = column.cells.get(number)?;
                Some(match self.heads {
                    Heads::Plain => cell.drawn(Sort::Words, None),
                    Heads::Bare | Heads::Classed => cell.drawn(column.sort, column.class),
                })
            };
            plain("tr", self.shown(Face::Page).filter_map(cell).collect::<Markup>())
        };
        let heads =
            plain("thead", plain("tr", self.shown(Face::Page).map(head).collect::<Markup>()));
        let body = plain("tbody", (0..self.rows.len()).map(row).collect::<Markup>());
        let caption = self.caption.clone().map(|words| plain("caption", words));
        let class = [("class", self.class)];
        let attributes = if self.class.is_empty() { &[][..] } else { &class[..] };
        element("table", attributes, [caption.unwrap_or_default(), heads, body])
    }

    /// For a page, in a box that scrolls where it is narrow.
    pub fn scroll(&self) -> Markup {
        classed("div", "scroll", self.html())
    }

    /// For a page, as a part of it under its title; nothing without rows.
    pub(crate) fn section(&self, title: &str) -> Markup {
        if self.is_empty() { Markup::new() } else { under(title, [self.scroll()]) }
    }

    pub(crate) fn columns(&self) -> Vec<Drawn> {
        let column = |(column, head): (&Column, &str)| {
            let name = column.called.as_deref().unwrap_or(head);
            let cells = column.cells.iter().map(|cell| cell.words.as_str());
            Drawn::new(head, name, column.sort != Sort::Figure, column.want, cells)
        };
        self.shown(Face::Terminal).map(column).collect()
    }

    /// For a terminal of so many columns, without what there is no room for; and what that is.
    pub(crate) fn fitted(&self, room: usize) -> (String, Vec<String>) {
        let mut columns = self.columns();
        let left_out = terminal::fit(&mut columns, room);
        (terminal::render(&columns), left_out)
    }

    /// For a terminal, a line for each row.
    pub fn text(&self) -> String {
        terminal::render(&self.columns())
    }

    /// For a terminal of so many columns, set in, without what there is no room for.
    pub fn within(&self, room: Option<usize>) -> String {
        terminal::within(self.columns(), room)
    }

    /// For machines: the object of the first row, null without rows.
    pub fn object(&self) -> Value {
        self.json().into_iter().next().unwrap_or_default()
    }

    /// For machines: a list of objects.
    pub fn json(&self) -> Vec<Value> {
        let object = |number: usize| {
            let field =
                |column: &Column| Some((column.key.to_owned(), column.values.get(number)?.clone()));
            Value::Object(self.columns.iter().filter_map(field).collect::<Map<_, _>>())
        };
        (0..self.rows.len()).map(object).collect()
    }
}

/// `Back after` of `back after`, and `p99` as it is.
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) if !word.chars().any(|c| c.is_ascii_digit()) => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_declared_once_for_all_who_read_it() {
        let rows = [("a <b>", Some(1.5)), ("c", None)];
        let table = Table::of(&rows)
            .name("drive", |row| row.0)
            .key("drive")
            .known("per_s", "rate", |row| row.1, |rate: f64| format!("{rate:.1}/s"))
            .figure("seen", |row| row.1.map(|_| "yes"))
            .on_page()
            .field("known", |row| row.1.is_some())
            .capitals();
        assert_eq!(table.text(), "drive   rate\na <b>  1.5/s\nc          –\n");
        let page = table.bare().caption("All").html().into_string();
        let head = "<th scope=\"col\">Drive</th><th scope=\"col\" class=\"number\">Rate</th>";
        assert!(page.starts_with("<table><caption>All</caption><thead><tr>"), "{page}");
        assert!(page.contains(head) && page.contains(">Seen</th></tr></thead>"), "{page}");
        assert!(page.contains("<th scope=\"row\">a &lt;b&gt;</th>"), "{page}");
        assert!(page.ends_with("<td class=\"number\">–</td></tr></tbody></table>"), "{page}");
    }

    #[test]
    fn machines_have_values_where_people_have_words() {
        let table = Table::of([1.5, 2.5])
            .known("per_s", "rate", |rate| rate, |rate: f64| format!("{rate:.0}/s"))
            .words("remark", |_| "");
        assert_eq!(table.json(), [1.5, 2.5].map(|per_s| crate::object! { per_s }));
        assert_eq!(Table::<u8>::of([]).field("none", |_| ()).object(), Value::Null);
    }
}
