//! Files that users name, and those that commands write.

pub(crate) mod caret;
pub(crate) mod foreign_results;
pub(crate) mod outputs;
pub(crate) mod plain_file;
pub(crate) mod run_file_disk;
pub(crate) mod text_file;
