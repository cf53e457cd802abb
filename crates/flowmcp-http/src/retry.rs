//! When a request is tried again, and after which wait.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use flowmcp_plugin::RetryPolicy;
use reqwest::Method;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending<'a> {
    /// A response, with its `Retry-After`.
    Status(u16, Option<&'a str>),
    /// No connection, so nothing was sent.
    NotSent,
    /// The connection broke before a response.
    Broken,
    /// Anything that another attempt would not change.
    Final,
}

/// How long to wait before the next attempt, or `None` if there is none.
///
/// `attempt` counts from 0; `left` is the time until the deadline.
pub(crate) fn wait(
    method: &Method,
    ending: Ending<'_>,
    policy: RetryPolicy,
    attempt: u8,
    left: Duration,
    now: SystemTime,
) -> Option<Duration> {
    if attempt >= policy.retries {
        return None;
    }
    // All methods but POST do the same when repeated (RFC 9110, section 9.2.2).
    let repeatable = *method != Method::POST;
    let asked = match ending {
        Ending::Status(429 | 502 | 503 | 504, retry_after) if repeatable => {
            retry_after.and_then(|text| retry_after_wait(text, now)).unwrap_or_default()
        }
        Ending::NotSent => Duration::ZERO,
        Ending::Broken if repeatable => Duration::ZERO,
        _ => return None,
    };
    if asked > policy.longest_wait {
        return None;
    }
    let wait = asked.max(jittered(backoff(attempt)).min(policy.longest_wait));
    (wait < left).then_some(wait)
}

fn backoff(attempt: u8) -> Duration {
    FIRST_BACKOFF.saturating_mul(1 << attempt.min(10)).min(LONGEST_BACKOFF)
}

/// Half to all of `longest`, so that clients that failed together do not return together.
fn jittered(longest: Duration) -> Duration {
    // A fresh hasher's keys are random enough for this, and need no dependency.
    let random = RandomState::new().hash_one(0_u8) % 1024;
    longest / 2 + (longest / 2).saturating_mul(u32::try_from(random).unwrap_or(0)) / 1024
}

/// Reads `Retry-After`: seconds or an HTTP date. A number too large for any wait is the longest wait there is.
fn retry_after_wait(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().map_or(Duration::MAX, Duration::from_secs));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 784_111_777;
    const POLICY: RetryPolicy = RetryPolicy { retries: 2, longest_wait: Duration::from_secs(10) };

    fn wait_ms(method: &str, ending: Ending<'_>, attempt: u8, left_ms: u64) -> Option<u128> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
        wait(&method.parse().unwrap(), ending, POLICY, attempt, Duration::from_millis(left_ms), now)
            .map(|wait| wait.as_millis())
    }

    #[test]
    fn which_endings_are_tried_again() {
        use Ending::{Broken, Final, NotSent, Status};
        for (method, ending, again) in [
            ("GET", Status(429, None), true),
            ("GET", Status(502, None), true),
            ("PUT", Status(503, None), true),
            ("DELETE", Status(504, None), true),
            ("POST", Status(503, None), false),
            ("POST", Status(429, Some("1")), false),
            ("GET", Status(200, None), false),
            ("GET", Status(404, None), false),
            ("GET", Status(408, None), false),
            ("GET", Status(500, None), false),
            ("GET", Status(501, None), false),
            ("GET", NotSent, true),
            ("POST", NotSent, true),
            ("GET", Broken, true),
            ("POST", Broken, false),
            ("GET", Final, false),
        ] {
            assert_eq!(wait_ms(method, ending, 0, 30_000).is_some(), again, "{method} {ending:?}");
            assert_eq!(wait_ms(method, ending, 2, 30_000), None, "attempts are bounded");
        }
    }

    #[test]
    fn retry_after() {
        let status = |text| Ending::Status(503, Some(text));
        for (text, left_ms, expected) in [
            ("1", 30_000, Some(1000)),
            (" 10 ", 30_000, Some(10_000)),
            ("11", 30_000, None),
            ("2", 1900, None),
            ("99999999999999999999999", 30_000, None),
            ("Sun, 06 Nov 1994 08:49:40 GMT", 30_000, Some(3000)),
            ("Sunday, 06-Nov-94 08:49:40 GMT", 30_000, Some(3000)),
            ("Sun Nov  6 08:49:40 1994", 30_000, Some(3000)),
            ("Sun, 06 Nov 1994 09:49:40 GMT", 30_000, None),
        ] {
            assert_eq!(wait_ms("GET", status(text), 0, left_ms), expected, "{text}");
        }
        for text in ["0", "-1", "1.5", "soon", "", "Sun, 06 Nov 1994 08:49:00 GMT"] {
            let found = wait_ms("GET", status(text), 0, 30_000);
            assert!(matches!(found, Some(50..=100)), "{text:?} means the usual wait, found {found:?}");
        }
    }

    #[test]
    fn backoff_grows_within_the_deadline() {
        for (attempt, range) in [(0, 50..=100), (1, 100..=200)] {
            let found = wait_ms("GET", Ending::NotSent, attempt, 30_000).unwrap();
            assert!(range.contains(&found), "attempt {attempt}: {found}");
        }
        assert_eq!(wait_ms("GET", Ending::NotSent, 0, 49), None);
        assert_eq!(backoff(200), LONGEST_BACKOFF);
    }
}
