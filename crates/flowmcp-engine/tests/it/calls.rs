//! The course of a call: cancellation, limits of calls in flight, deadlines, and what the transport is told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use flowmcp_engine::{CallError, Caller, DEFAULT_VIEW, Engine, Limits, Settings, UnknownArguments};
use flowmcp_plugin::{BoxFuture, Request, RequestLimits, Response, RetryPolicy, Transport, TransportError};
use serde_json::Map;
use tokio::sync::{Notify, Semaphore};

use crate::{
    schema_text::{SchemaText, demo, tool},
    support::{Upstream, World, block_on, content_text, output, response},
};

/// A transport that answers a request only when a test lets it go.
struct Held {
    started: Notify,
    go: Semaphore,
    dropped: AtomicUsize,
}

impl Default for Held {
    fn default() -> Self {
        Held { started: Notify::new(), go: Semaphore::new(0), dropped: AtomicUsize::new(0) }
    }
}

/// Counts requests whose future went away before its answer.
struct Unanswered<'h>(&'h Held, bool);

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(usize::from(!self.1), Ordering::SeqCst);
    }
}

impl Transport for Held {
    fn send(&self, _request: Request, _deadline: Instant) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let mut unanswered = Unanswered(self, false);
            self.started.notify_one();
            self.go.acquire().await.unwrap().forget();
            unanswered.1 = true;
            Ok(response(200, "", "done"))
        })
    }
}

fn limited(calls: usize, calls_per_host: usize, call_deadline: Duration) -> World {
    let limits = Limits { calls, calls_per_host, call_deadline, ..Limits::default() };
    World { settings: Settings { limits, ..Settings::default() }, ..World::default() }
}

/// Tools `one__get` and `two__get` of different hosts.
fn two_hosts() -> [SchemaText; 2] {
    [("one", "https://one.test"), ("two", "https://two.test:8443")].map(|(namespace, root)| SchemaText {
        namespace: namespace.to_owned(),
        root,
        ..demo(tool("GET", "/x", &[]))
    })
}

async fn called(engine: &Engine, name: &str) -> String {
    let caller = Caller::default();
    content_text(&engine.call(DEFAULT_VIEW, name, Map::new(), &caller).await.unwrap())
}

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);

#[test]
fn cancellation_ends_the_call_and_drops_the_request() {
    let (held, engine) = limited(1, 1, LONG).load(&two_hosts()).serve(Held::default());
    block_on(async {
        let caller = Caller::default();
        let call = engine.call(DEFAULT_VIEW, "one__get", Map::new(), &caller);
        let cancel = async {
            held.started.notified().await;
            caller.cancellation.cancel();
        };
        let (result, ()) = tokio::join!(call, cancel);
        assert_eq!(result.unwrap_err(), CallError::Cancelled);
        assert_eq!(held.dropped.load(Ordering::SeqCst), 1);
        // Its place is free again.
        held.go.add_permits(1);
        assert_eq!(called(&engine, "one__get").await, "done");
        assert_eq!(held.dropped.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_call_that_is_cancelled_already_sends_nothing() {
    let (upstream, engine) = World::default().load(&two_hosts()).serve(Upstream::default());
    let caller = Caller::default();
    caller.cancellation.cancel();
    for _ in 0..20 {
        let result = block_on(engine.call(DEFAULT_VIEW, "one__get", Map::new(), &caller));
        assert_eq!(result.unwrap_err(), CallError::Cancelled);
    }
    assert_eq!(upstream.take().len(), 0);
}

#[test]
fn calls_over_the_limit_wait_until_their_deadline() {
    let (held, engine) = limited(1, 1, SHORT).load(&two_hosts()).serve(Held::default());
    block_on(async {
        let first = called(&engine, "one__get");
        let others = async {
            held.started.notified().await;
            let started = Instant::now();
            let busy = called(&engine, "two__get").await;
            assert_eq!(busy, "too many calls are in flight: try again later");
            assert!(started.elapsed() >= SHORT);
            held.go.add_permits(2);
        };
        let (first, ()) = tokio::join!(first, others);
        assert_eq!(first, "done");
        assert_eq!(called(&engine, "two__get").await, "done");
    });
}

#[test]
fn calls_over_the_limit_of_a_host_leave_other_hosts_alone() {
    let (held, engine) = limited(2, 1, SHORT).load(&two_hosts()).serve(Held::default());
    block_on(async {
        let first = called(&engine, "one__get");
        let others = async {
            held.started.notified().await;
            assert_eq!(called(&engine, "one__get").await, "too many calls are in flight: try again later");
            let other_host = async { called(&engine, "two__get").await };
            let go = async {
                held.started.notified().await;
                held.go.add_permits(2);
            };
            let (other_host, ()) = tokio::join!(other_host, go);
            assert_eq!(other_host, "done");
        };
        let (first, ()) = tokio::join!(first, others);
        assert_eq!(first, "done");
    });
}

/// However many wait for a slow host: they do not hold the places of calls to other hosts.
#[test]
fn calls_that_wait_for_a_host_hold_no_other_place() {
    let (held, engine) = limited(2, 1, LONG).load(&two_hosts()).serve(Held::default());
    block_on(async {
        let first = called(&engine, "one__get");
        let others = async {
            held.started.notified().await;
            let go = async {
                held.started.notified().await;
                held.go.add_permits(3);
            };
            tokio::join!(called(&engine, "one__get"), called(&engine, "two__get"), go)
        };
        let (first, (waiting, other_host, ())) = tokio::join!(first, others);
        assert_eq!([first, waiting, other_host], ["done"; 3]);
    });
}

/// A waiting call takes the place that becomes free.
#[test]
fn a_waiting_call_goes_on() {
    let (held, engine) = limited(1, 1, LONG).load(&two_hosts()).serve(Held::default());
    block_on(async {
        let go = async {
            held.started.notified().await;
            held.go.add_permits(2);
        };
        let (first, second, ()) = tokio::join!(called(&engine, "one__get"), called(&engine, "one__get"), go);
        assert_eq!((first.as_str(), second.as_str()), ("done", "done"));
    });
}

#[test]
fn the_transport_gets_the_deadline_and_the_limits() {
    let mut world = limited(2, 2, Duration::from_secs(7));
    world.settings.limits.response_bytes = 1234;
    world.settings.limits.redirects = 2;
    world.settings.retry = RetryPolicy { retries: 4, longest_wait: Duration::from_secs(3) };
    let (upstream, engine) = world.load(&two_hosts()).serve(Upstream::default());
    let before = Instant::now();
    block_on(called(&engine, "one__get"));
    let after = Instant::now();
    let (request, deadline) = upstream.take().remove(0);
    let call_deadline = Duration::from_secs(7);
    assert!(before + call_deadline <= deadline && deadline <= after + call_deadline);
    assert_eq!(request.limits, RequestLimits { response_bytes: 1234, redirects: 2 });
    assert_eq!(request.retry, RetryPolicy { retries: 4, longest_wait: Duration::from_secs(3) });
    assert!(request.secrets.is_empty());
}

#[test]
fn unknown_tools_are_errors_with_the_nearest_name() {
    let (upstream, engine) = World::default().load(&two_hosts()).serve(Upstream::default());
    let message = |view: &str, name: &str| {
        let caller = Caller::default();
        block_on(engine.call(view, name, Map::new(), &caller)).unwrap_err().to_string()
    };
    assert_eq!(message(DEFAULT_VIEW, "one_get"), "unknown tool \"one_get\"; did you mean \"one__get\"?");
    assert_eq!(message(DEFAULT_VIEW, "weather"), "unknown tool \"weather\"");
    assert_eq!(message("other", "one__get"), "unknown tool \"one__get\"");
    assert_eq!(upstream.take().len(), 0);
    assert_eq!(engine.settings().unknown_arguments, UnknownArguments::Drop);
}

/// A call in flight ends on the snapshot that it began with.
#[test]
fn a_replaced_snapshot_serves_new_calls_only() {
    let (held, engine) = limited(2, 2, LONG).load(&two_hosts()).serve(Held::default());
    let [one, _] = two_hosts();
    let next = World::default().load(&[SchemaText { namespace: "new".to_owned(), ..one }]).snapshot();
    block_on(async {
        let change = async {
            held.started.notified().await;
            let old = engine.snapshot();
            engine.replace(next);
            assert!(!Arc::ptr_eq(&old, &engine.snapshot()));
            held.go.add_permits(2);
        };
        let (first, ()) = tokio::join!(called(&engine, "one__get"), change);
        assert_eq!(first, "done");
        assert_eq!(called(&engine, "new__get").await, "done");
        let caller = Caller::default();
        let gone = engine.call(DEFAULT_VIEW, "two__get", Map::new(), &caller).await.unwrap_err();
        assert_eq!(gone.to_string(), "unknown tool \"two__get\"");
    });
}

#[test]
fn a_failed_request_is_a_result() {
    let upstream = Upstream::new(|_| {
        Err(TransportError::Timeout { host: "one.test".to_owned(), phase: flowmcp_plugin::Phase::Respond })
    });
    let (upstream, engine) = World::default().load(&two_hosts()).serve(upstream);
    let (output, _) = output(&engine, &upstream, "one__get", Map::new());
    assert!(output.is_error);
    assert_eq!(content_text(&output), "one.test: timed out while waiting for the response");
}
