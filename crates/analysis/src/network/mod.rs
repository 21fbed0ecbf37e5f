//! The baseline of a network: which addresses of hosts are used, who meets whom, and what the
//! measured flows say of each pair, each host and the whole.

mod addresses;
mod figures;
mod rounds;

pub use addresses::{AddressError, choose};
pub use figures::{
    HostFigures, NetworkDoubt, NetworkFigures, PairFigures, TestbedFigures, figures,
};
pub use rounds::{Meeting, rounds, rounds_of_all};
