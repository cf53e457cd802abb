//! Times and sizes as people write them.

use std::time::Duration;

/// Longest time that a setting may have.
pub(super) const LONGEST_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Largest size that a setting may have: 4 GiB.
pub(super) const LARGEST_SIZE: u64 = 4 << 30;

const TIMES: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

/// `"30s"`, `"500ms"`, `"1.5 m"`, `"2h"`; a number alone means seconds.
pub(super) fn parse_time(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let seconds = if unit.is_empty() {
        1.0
    } else {
        TIMES.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds)?
    };
    Duration::try_from_secs_f64(number * seconds).ok()
}

/// `"10 MiB"`, `"512KiB"`, `"1.5 GB"`, case ignored; a number alone means bytes.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let factor = if unit.is_empty() {
        1
    } else {
        SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, factor)| *factor)?
    };
    let bytes = number * factor as f64;
    // Beyond the largest size the exact value does not matter: it is refused anyway.
    (bytes.fract() == 0.0 && bytes <= LARGEST_SIZE as f64).then_some(bytes as u64)
}

/// A number without sign or exponent, and what follows it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.starts_with('.') || number.ends_with('.') {
        return None;
    }
    Some((number.parse().ok()?, unit.trim_start()))
}

/// The time rounded to milliseconds, if it is in range.
pub(super) fn checked_time(time: Duration) -> Option<Duration> {
    let time = Duration::from_millis(u64::try_from((time.as_micros() + 500) / 1000).ok()?);
    (!time.is_zero() && time <= LONGEST_TIME).then_some(time)
}

/// The size, if it is in range and this machine can address it.
pub(super) fn checked_size(bytes: u64) -> Option<u64> {
    ((1..=LARGEST_SIZE).contains(&bytes) && usize::try_from(bytes).is_ok()).then_some(bytes)
}

/// A time in the largest unit that keeps it whole.
pub(super) fn show_time(time: Duration) -> String {
    let millis = time.as_millis();
    for (unit, factor) in [("h", 3_600_000), ("m", 60_000), ("s", 1000)] {
        if millis != 0 && millis.is_multiple_of(factor) && (unit == "s" || millis / factor > 1) {
            return format!("{}{unit}", millis / factor);
        }
    }
    format!("{millis}ms")
}

/// A size in the largest binary unit that keeps it whole.
pub(super) fn show_size(bytes: u64) -> String {
    for (unit, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes != 0 && bytes.is_multiple_of(factor) {
            return format!("{} {unit}", bytes / factor);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let cases = [
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("1.5 m", Some(90_000)),
            ("2h", Some(7_200_000)),
            ("24h", Some(86_400_000)),
            (" 7 ", Some(7000)),
            ("0.0006s", Some(1)),
            ("0s", None),
            ("0.1ms", None),
            ("25h", None),
            ("", None),
            ("s", None),
            ("-1s", None),
            ("1e3s", None),
            ("1.s", None),
            ("1.2.3s", None),
            ("30S", None),
            ("30 sec", None),
            ("99999999999999999999999999999999999h", None),
        ];
        for (text, expected) in cases {
            let read = parse_time(text).and_then(checked_time).map(|time| time.as_millis());
            assert_eq!(read, expected, "{text:?}");
        }
    }

    #[test]
    fn sizes_are_read() {
        let cases = [
            ("10 MiB", Some(10 << 20)),
            ("512KiB", Some(512 << 10)),
            ("1.5 kB", Some(1500)),
            ("1gib", Some(1 << 30)),
            ("4 GiB", Some(4 << 30)),
            ("4096", Some(4096)),
            ("3 MB", Some(3_000_000)),
            ("0", None),
            ("0 MiB", None),
            ("5 GiB", None),
            ("1.0001 B", None),
            ("10 M", None),
            ("-1", None),
            ("", None),
            ("99999999999999999999999999999999999999999999 GiB", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_size(text).and_then(checked_size), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_shown_reads_back() {
        for millis in [1, 999, 1000, 1500, 60_000, 90_000, 120_000, 3_600_000, 7_200_000, 86_400_000] {
            let time = Duration::from_millis(millis);
            assert_eq!(parse_time(&show_time(time)), Some(time), "{millis}");
        }
        for bytes in [1, 1000, 1024, 1536, 5 << 20, 4 << 30] {
            assert_eq!(parse_size(&show_size(bytes)), Some(bytes));
        }
    }
}
