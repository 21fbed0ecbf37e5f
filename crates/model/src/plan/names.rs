//! What is called the same wherever it is made, looked for or shown.

/// What the text of a simulated cluster ends with where all hosts have the same files.
pub const SHARED: &str = "file=shared";

/// The coordinate of points that says which scenario they belong to.
pub const SCENARIO_AXIS: &str = "scenario";

/// The name of the `number`-th file of a layout. Only files with such names are ever written or
/// removed.
pub fn data_file_name(number: u32) -> String {
    format!("data-{number:05}.bin")
}

/// The name of the `number`-th tree of a target. Only directories with such names are ever emptied
/// or removed.
pub fn tree_name(number: u32) -> String {
    format!("tree-{number:05}")
}
