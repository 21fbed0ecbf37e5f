//! The testbeds of `reference/testbeds`, embedded: those of the five field reports.

/// The reference testbeds: name and text.
pub const REFERENCE: [(&str, &str); 5] = [
    ("azure-stack-hci", include_str!("../../../../reference/testbeds/azure-stack-hci.toml")),
    ("s2d-disaggregated", include_str!("../../../../reference/testbeds/s2d-disaggregated.toml")),
    ("vsan-four-corners", include_str!("../../../../reference/testbeds/vsan-four-corners.toml")),
    (
        "hyperflex-stretched",
        include_str!("../../../../reference/testbeds/hyperflex-stretched.toml"),
    ),
    ("pixstor-nvme", include_str!("../../../../reference/testbeds/pixstor-nvme.toml")),
];
