//! Both directions, there and back, and any bytes.

use std::time::Duration;

use bytes::BytesMut;
use flowmcp_plugin::*;
use proptest::prelude::*;

use super::*;
use crate::{
    confine::{Layer, LayerState, Layers},
    frame,
    probe::Probe,
};

fn unframed(frame: Vec<u8>) -> Bytes {
    let mut received = BytesMut::from(frame.as_slice());
    let body = frame::take(&mut received, usize::MAX).ok().flatten().expect("one whole frame");
    assert!(received.is_empty());
    body
}

fn request() -> FetchRequest {
    FetchRequest {
        method: Method::Post,
        url: "https://a.test/".to_owned(),
        headers: vec![("a".to_owned(), "b".to_owned())],
        body: Bytes::from_static(b"body"),
        derived: vec![DerivedToken {
            token: "a1".to_owned(),
            encoding: DerivedEncoding::Base64,
            text: Bytes::from_static(b"x"),
        }],
    }
}

fn outline() -> Outline {
    let hooks =
        vec![("h".to_owned(), Outline::Function), ("x".to_owned(), Outline::Other("null".to_owned()))];
    Outline::Object(vec![("t".to_owned(), Outline::Object(hooks))])
}

#[test]
fn what_the_host_says_arrives() {
    let settings = SandboxSettings {
        network: NetworkGrant::Granted,
        context: ContextLife::Schema,
        ..SandboxSettings::default()
    };
    let result = FetchResult { status: 404, headers: request().headers, body: request().body };
    for message in [
        ToWorker::Hello { memory_bytes: 7, layers: Layers::All },
        ToWorker::Hello { memory_bytes: 7, layers: Layers::Seccomp },
        ToWorker::Load {
            program: 1,
            extension: "mjs".to_owned(),
            path: "a.mjs".to_owned(),
            code: Bytes::from_static(b"code"),
            shared_lists: "{}".to_owned(),
            settings,
            caps: Caps { log_lines: 1, fetches: 2 },
        },
        ToWorker::Call {
            program: 1,
            tool: "t".to_owned(),
            hook: Hook::PostProcess,
            left: Duration::from_micros(5),
            tokens: vec!["x".to_owned()],
            input: Bytes::from_static(b"{}"),
        },
        ToWorker::Outline { program: 9, left: Duration::from_secs(1) },
        ToWorker::Compile {
            extension: "mjs".to_owned(),
            path: "a".to_owned(),
            text: Bytes::from_static(b"text"),
            libraries: vec![("l".to_owned(), "m".to_owned())],
            limits: SandboxLimits::default(),
        },
        ToWorker::Answer { ticket: 3, result: Ok(result) },
        ToWorker::Answer { ticket: 3, result: Err("no".to_owned()) },
        ToWorker::NoAnswer,
        ToWorker::Probe(Probe::Exec),
    ] {
        assert_eq!(ToWorker::decode(unframed(message.encode())), Some(message));
    }
}

#[test]
fn what_a_worker_says_arrives() {
    let derived = DerivedToken {
        token: "ab1".to_owned(),
        encoding: DerivedEncoding::Base64Url,
        text: Bytes::from_static(b"\xff"),
    };
    let limit = Duration::from_millis(3);
    let errors = [
        SandboxError::Compile { path: "a".to_owned(), line: 1, column: 2, reason: "r".to_owned() },
        SandboxError::Thrown { message: "m".to_owned(), place: None },
        SandboxError::Thrown { message: "m".to_owned(), place: Some("a:1:2".to_owned()) },
        SandboxError::NotJson { reason: "r".to_owned() },
        SandboxError::NeverSettles,
        SandboxError::Time { limit },
        SandboxError::Memory { limit: 4 },
        SandboxError::Stack { limit: 5 },
        SandboxError::Output { limit: 6 },
        SandboxError::Crashed { reason: "r".to_owned() },
    ];
    let states =
        [LayerState::Enforced, LayerState::Partly("p".to_owned()), LayerState::Missing("m".to_owned())];
    let outputs = [HookValue::Absent, HookValue::Undefined, HookValue::Json("1".to_owned())].map(|value| {
        let output = HookOutput { value, edited: Some("{}".to_owned()), derived: vec![derived.clone()] };
        FromWorker::Output { output, retire: true }
    });
    let others = [
        FromWorker::Ready { layers: states.map(|state| Layer { name: "n".to_owned(), state }).to_vec() },
        FromWorker::Compiled { code: Bytes::from_static(b"code") },
        FromWorker::Outlined { outline: outline(), retire: false },
        FromWorker::Fetch { ticket: 1, request: request() },
        FromWorker::Wait { at_most: None },
        FromWorker::Wait { at_most: Some(limit) },
        FromWorker::Log { level: LogLevel::Warn, line: "l".to_owned() },
        FromWorker::Probed { refusal: None },
        FromWorker::Probed { refusal: Some("EPERM".to_owned()) },
    ];
    let failed = errors.map(|error| FromWorker::Failed { error, retire: false });
    for message in outputs.into_iter().chain(others).chain(failed) {
        assert_eq!(FromWorker::decode(unframed(message.encode())), Some(message));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(kind in 0_u8..12, mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        let frame = Bytes::from(bytes);
        let _ = FromWorker::decode(frame.clone());
        let _ = ToWorker::decode(frame);
    }
}
