//! The testbeds of `reference/testbeds`, embedded: those of the five field reports; and what was
//! fitted to the published rows, in `reference/fitted`.

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

/// What `plimsoll calibrate NAME --against NAME` found of them: name, and `[fitted]` with its rows.
/// A test holds it equal and renews it (`tests/field_reports.rs`).
pub const FITTED: [(&str, &str); 3] = [
    ("vsan-four-corners", include_str!("../../../../reference/fitted/vsan-four-corners.toml")),
    ("hyperflex-stretched", include_str!("../../../../reference/fitted/hyperflex-stretched.toml")),
    ("pixstor-nvme", include_str!("../../../../reference/fitted/pixstor-nvme.toml")),
];

/// The text of the reference testbed `name`, with what was fitted behind it where `is_fitted`;
/// `None` where there is none so.
pub fn reference_text(name: &str, is_fitted: bool) -> Option<String> {
    let of = |all: &[(&str, &'static str)]| {
        all.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    };
    let described = of(&REFERENCE)?;
    if is_fitted {
        of(&FITTED).map(|fitted| format!("{}\n\n{fitted}", described.trim_end()))
    } else {
        Some(described.to_owned())
    }
}
