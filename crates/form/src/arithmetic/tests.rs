use super::*;

fn lookup(name: Name) -> Option<f64> {
    Some(match name {
        Name::Memory => 128.0 * 1024.0 * 1024.0 * 1024.0,
        Name::Workers => 8.0,
        Name::Depth => 4.0,
        Name::Files => 0.0,
        _ => return None,
    })
}

fn value(text: &str) -> Result<f64, String> {
    let arithmetic = parse(text, Unit::Size, &Name::ALL).map_err(|error| error.to_string())?;
    arithmetic.evaluate(&lookup).map_err(|error| error.to_string())
}

#[test]
fn it_computes_as_on_paper() {
    for (text, wanted) in [
        ("2 * memory / workers", 32.0 * 1024.0 * 1024.0 * 1024.0),
        ("2 * memory(clients) / workers", 32.0 * 1024.0 * 1024.0 * 1024.0),
        ("2048/workers", 256.0),
        ("1 + 2 * 3 - 4", 3.0),
        ("(1 + 2) * -3", -9.0),
        ("8 / 4 / 2", 1.0),
        ("min(3, 1 + 1, 7) + max(1k, 1KB)", 1026.0),
        ("floor(7 / 2) * floor(3) - floor(-0.5)", 10.0),
        ("1.5MiB - 512", 1_572_352.0),
        ("workers * depth > 31 and not depth >= 5", 1.0),
        ("workers == 1 or (depth != 4)", 0.0),
    ] {
        assert_eq!(value(text), Ok(wanted), "{text}");
    }
    let seconds =
        parse("2m + 500ms + 1", Unit::Duration, &[]).expect("durations").evaluate(&|_| None);
    assert_eq!(seconds, Ok(121.5));
}

#[test]
fn mistakes_say_what_and_what_to_do() {
    for (text, wanted) in [
        (
            "memory / files",
            "divides by zero; divide by something that is never 0, such as max(1, …)",
        ),
        ("2 * memroy", "`memroy` is not a known name; did you mean `memory`?"),
        (
            "2 *",
            "expected a number or a name, found its end; write it as in \"2 * memory / workers\"",
        ),
        ("2 (3)", "expected an operator, found `(`; write it as in \"2 * memory / workers\""),
        (
            "2 ^ 3",
            "`^` is no part of a computation; write numbers, names, + - * / ( ), min(a, b), \
             max(a, b) and floor(a)",
        ),
        (
            "(depth > 1) + 1",
            "computes with true and false; compare numbers: \"workers * depth > 256\"",
        ),
        (
            "not depth",
            "a number stands where a comparison belongs; compare it: \"workers * depth > 256\"",
        ),
        ("cpus", "`cpus` is not known here; leave it out, or write a number in its place"),
        (
            "memory(servers)",
            "expected `clients`, found `servers`; write it as in \"2 * memory / workers\"",
        ),
        ("floor 2", "expected `(`, found `2`; write it as in \"2 * memory / workers\""),
        ("floor(1, 2)", "expected `)`, found `,`; write it as in \"2 * memory / workers\""),
        (
            "max()",
            "expected a number or a name, found `)`; write it as in \"2 * memory / workers\"",
        ),
    ] {
        assert_eq!(value(text), Err(wanted.to_owned()), "{text}");
    }
    let early = parse("depth * 2", Unit::Size, &[Name::Memory]).expect_err("depth is not allowed");
    assert_eq!(early.message, "`depth` is not yet known where this field is computed");
}

#[test]
fn nesting_and_length_are_bounded() {
    assert!(value(&format!("{}1{}", "(".repeat(30), ")".repeat(30))).is_ok());
    assert!(
        value(&format!("{}1{}", "(".repeat(200), ")".repeat(200)))
            .is_err_and(|text| text.contains("brackets"))
    );
    assert!(value(&"-".repeat(400)).is_err());
    assert!(value(&"1+".repeat(300)).is_err_and(|text| text.contains("600 characters")));
    let large = vec!["999999999999999999999999"; 19].join("*");
    assert!(value(&large).is_err_and(|text| text.contains("no finite value")));
}

#[test]
fn literals_and_words_are_not_taken_for_arithmetic() {
    for text in ["4KiB", "5 parsecs", "none", "1h30m", "4KiB:70", "4KiB:70, 8KiB:-3", "-5", "0%"] {
        assert!(!looks_like(text), "{text}");
    }
    for text in ["memory", "memroy", "2*3", "min(1,2)", "4 - 2", "4/2"] {
        assert!(looks_like(text), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}", words in "[ 0-9a-z_+*/().,<>=!-]{0,80}") {
        for text in [text, words] {
            let read = parse(&text, Unit::Size, &Name::ALL);
            if let Ok(Ok(value)) = read.map(|arithmetic| arithmetic.evaluate(&lookup)) {
                proptest::prop_assert!(value.is_finite());
            }
        }
    }

    #[test]
    fn it_agrees_with_rust(a in 1u32..1000, b in 1u32..1000, c in 1u32..1000) {
        let (x, y, z) = (f64::from(a), f64::from(b), f64::from(c));
        proptest::prop_assert_eq!(value(&format!("{a}+{b}*{c}")), Ok(x + y * z));
        proptest::prop_assert_eq!(value(&format!("({a}-{b})/{c}")), Ok((x - y) / z));
        proptest::prop_assert_eq!(value(&format!("{a}-{b}-{c} < 0")),
            Ok(f64::from(u8::from(x - y - z < 0.0))));
    }
}
