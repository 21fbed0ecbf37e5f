//! How fast a run is played again.

use std::str::FromStr;

/// How much faster than the run was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(pub(super) f64);

impl Speed {
    const LEAST: f64 = 0.1;
    const MOST: f64 = 10_000.0;

    /// As the run was.
    pub const REAL: Speed = Speed(1.0);

    /// Twice as fast, up to a limit.
    pub fn faster(self) -> Speed {
        Speed((self.0 * 2.0).min(Speed::MOST))
    }

    /// Half as fast, down to a limit.
    pub fn slower(self) -> Speed {
        Speed((self.0 / 2.0).max(Speed::LEAST))
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        let speed = text.trim_end_matches(['x', '×']).parse().ok();
        let speed = speed.filter(|speed| (Speed::LEAST..=Speed::MOST).contains(speed)).map(Speed);
        speed.ok_or_else(|| {
            format!("`{text}` is no speed; write {} to {}, such as 10", Speed::LEAST, Speed::MOST)
        })
    }
}

impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}×", (self.0 * 100.0).round() / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_have_limits() {
        assert_eq!("10".parse(), Ok(Speed(10.0)));
        for wrong in ["0", "-1", "fast", "nan", "inf", "1e9", ""] {
            assert!(wrong.parse::<Speed>().is_err(), "{wrong}");
        }
        let (mut most, mut least) = (Speed::REAL, Speed::REAL);
        for _ in 0..100 {
            (most, least) = (most.faster(), least.slower());
        }
        assert_eq!((most, least), (Speed(Speed::MOST), Speed(Speed::LEAST)));
        assert_eq!(
            (Speed(0.125).to_string(), Speed(10.0).to_string()),
            ("0.13×".to_owned(), "10×".to_owned())
        );
    }
}
