//! What one drive can do, whether a testbed or the catalogue says it.

use form::Auto;
use model::flash::amplification_of;

/// The unit of mapping of flash.
const PAGE_BYTES: f64 = 4096.0;
/// What writes fewer requests at random is a disk.
const LEAST_FLASH_IOPS: f64 = 1_000.0;

/// What one drive can do; `None` where neither the file nor the catalogue says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Capacity in bytes.
    pub capacity_bytes: Option<f64>,
    /// Sequential reads in bytes per second.
    pub read_bytes_per_s: Option<f64>,
    /// Sequential writes in bytes per second.
    pub write_bytes_per_s: Option<f64>,
    /// Random reads of 4 KiB per second.
    pub read_iops: Option<f64>,
    /// Random writes of 4 KiB per second.
    pub write_iops: Option<f64>,
}

impl Figures {
    /// The same drive where only this share (0 to 1) of it holds data, and it knows so.
    ///
    /// A datasheet's sustained random writes are those of a full drive, whose cleaning copies
    /// pages. Its amplification is taken to be its bandwidth ÷ that rate in bytes, which gives its
    /// spare by [`amplification_of`]; all that holds no data is spare, too. A drive is taken to
    /// write no more requests than it reads. What has no such amplification, a disk or one that
    /// its controller binds, stays as it is.
    pub fn filled(self, share: f64) -> Figures {
        let (Some(bandwidth), Some(write_iops)) = (self.write_bytes_per_s, self.write_iops) else {
            return self;
        };
        let when_full = bandwidth / (write_iops * PAGE_BYTES);
        let is_flash = write_iops >= LEAST_FLASH_IOPS && when_full > 1.0;
        let is_partly_full = share > 0.0 && share < 1.0;
        if !is_flash || !is_partly_full {
            return self;
        }
        let valid = 1.0 - 1.0 / when_full;
        // All pages ÷ pages with data: the fixed point solved for it.
        let alpha = -valid.ln() / (1.0 - valid);
        let rate = write_iops * when_full / amplification_of(alpha / share);
        let most = self.read_iops.unwrap_or(f64::INFINITY).max(write_iops);
        Figures { write_iops: Some(rate.min(most)), ..self }
    }
}

/// The value, if somebody said it.
pub fn fixed<T>(value: Auto<T>) -> Option<T> {
    match value {
        Auto::Fixed(value) => Some(value),
        Auto::Auto => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P4610: Figures = Figures {
        capacity_bytes: Some(3.2e12),
        read_bytes_per_s: Some(3.2e9),
        write_bytes_per_s: Some(3.0e9),
        read_iops: Some(638_000.0),
        write_iops: Some(222_000.0),
    };

    #[test]
    fn the_closed_form_has_its_known_values() {
        // α = 1.25: u = exp(−1.25·(1 − u)) has the root 0.6286; α = 2: 0.2032.
        for (alpha, valid) in [(1.25, 0.628_6), (2.0, 0.203_2)] {
            let found = 1.0 - 1.0 / amplification_of(alpha);
            assert!((found - valid).abs() < 1e-4, "{alpha}: {found}");
        }
    }

    #[test]
    fn the_emptier_a_flash_drive_the_faster_it_writes_up_to_what_it_reads() {
        let at = |share: f64| P4610.filled(share).write_iops.expect("known");
        assert!((at(1.0) - 222_000.0).abs() < 1e-6);
        // Nearly full, it is nearly the datasheet's; 80 % full, α is 1 ÷ 0.8 of a full one's.
        assert!((at(0.999) / 222_000.0 - 1.0).abs() < 0.01, "{}", at(0.999));
        let full = 3.0e9 / (222_000.0 * 4096.0);
        let valid: f64 = 1.0 - 1.0 / full;
        let less = 3.0e9 / 4096.0 / amplification_of(1.25 * -valid.ln() / (1.0 - valid));
        assert!((at(0.8) - less).abs() < 1.0 && less > 400_000.0, "{} {less}", at(0.8));
        assert!((at(0.01) - 638_000.0).abs() < 1e-6, "no more than it reads");
        assert!(at(0.8) > at(0.9) && at(0.9) > at(0.95));
    }

    #[test]
    fn disks_and_drives_that_do_not_copy_stay_as_they_are() {
        let disk = Figures { write_iops: Some(300.0), ..P4610 };
        assert_eq!(disk.filled(0.1), disk);
        let fast = Figures { write_iops: Some(800_000.0), ..P4610 };
        assert_eq!(fast.filled(0.1), fast);
        let unknown = Figures { write_bytes_per_s: None, ..P4610 };
        assert_eq!(unknown.filled(0.1), unknown);
        assert_eq!(P4610.filled(0.0), P4610);
    }
}
