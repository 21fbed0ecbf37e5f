//! Texts from anybody: suites and testbeds. One program for both, so that there is one to link.

mod any_suite;
mod any_testbed;
mod common;
