//! What a worker cannot do.

use flowmcp_plugin::*;
use flowmcp_worker::*;

use crate::support::{broken_pool, call, json, pool, post_request, program_of};

#[tokio::test]
async fn every_layer_is_reported_and_every_attempt_fails() {
    let report = pool(PoolSettings::default()).confinement_report().await.unwrap();
    let names: Vec<&str> = report.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "death with the host",
            "no core dumps, no ptrace",
            "no new privileges",
            "Landlock (no files, no network)",
            "resource limits",
            "seccomp"
        ]
    );
    // Old kernels lack Landlock; seccomp refuses the same by itself.
    for layer in report.layers.iter().filter(|layer| !layer.name.starts_with("Landlock")) {
        assert_eq!(layer.state, LayerState::Enforced, "{report}");
    }
    let ended = "the worker process made a forbidden system call and was killed";
    for attempt in &report.attempts {
        match attempt.what.as_str() {
            "read a file" | "write a file" | "connect to a network address" | "open a Unix socket" => {
                assert_eq!(attempt.outcome, Outcome::Ended(ended.to_owned()), "{report}");
            }
            _ => assert_ne!(attempt.outcome, Outcome::Allowed, "{report}"),
        }
    }
    // No layer leans on another: what each is for, it refuses by itself.
    let landlock = report.layers.iter().find(|layer| layer.name.starts_with("Landlock"));
    let has_landlock = landlock.is_some_and(|layer| layer.state == LayerState::Enforced);
    for (layers, refused) in [
        (Layers::Landlock, &["read a file", "write a file", "start a program"][..]),
        (Layers::Limits, &["read a file", "open another descriptor", "take more memory than allowed"]),
        (
            Layers::Seccomp,
            &["read a file", "connect to a network address", "start a program", "start a thread"],
        ),
    ] {
        for attempt in report.attempts.iter().filter(|attempt| refused.contains(&attempt.what.as_str())) {
            let alone = attempt.alone.iter().find(|(one, _)| *one == layers).map(|(_, outcome)| outcome);
            if layers != Layers::Landlock || has_landlock {
                assert_ne!(alone, Some(&Outcome::Allowed), "{}: {}", layers.as_str(), attempt.what);
            }
        }
    }
}

#[tokio::test]
async fn strict_isolation_refuses_what_is_not_confined() {
    let strict = PoolSettings { isolation: Isolation::Strict, ..PoolSettings::default() };
    let program = program_of("a", &post_request("return 1"), SandboxSettings::default());
    let layers = pool(strict).layers().await.unwrap();
    let complete = layers.iter().all(|layer| !matches!(layer.state, LayerState::Missing(_)));
    let result = call(&pool(strict), &program).await;
    assert_eq!(result.is_ok(), complete, "{result:?}");

    let args = vec!["fine".into()];
    let command = WorkerCommand::Process { program: crate::support::example("broken_worker"), args };
    let unconfined = Pool::new(command, strict).unwrap();
    let error = call(&unconfined, &program).await.unwrap_err();
    assert!(matches!(error, SandboxError::Unconfined { .. }), "{error:?}");
    assert_eq!(call(&broken_pool("fine"), &program).await, json("1"), "the default takes what there is");
}

#[tokio::test]
async fn a_confined_worker_knows_the_time_in_utc() {
    let program = program_of(
        "a",
        &post_request(
            "return [ new Date( 0 ).toString(), new Date( 2024, 6, 1 ).getTimezoneOffset(), Date.now() > 1e12, Math.random() < 1, ( 1234.5 ).toLocaleString(), 'ä'.localeCompare( 'z' ), 'İ'.toLowerCase().length, new Date( 0 ).toLocaleDateString() ].length",
        ),
        SandboxSettings::default(),
    );
    assert_eq!(call(&pool(PoolSettings::default()), &program).await, json("8"));
    let program =
        program_of("a", &post_request("return new Date( 0 ).toString()"), SandboxSettings::default());
    let shown = call(&pool(PoolSettings::default()), &program).await;
    assert!(matches!(&shown, Ok(HookValue::Json(text)) if text.contains("GMT+0000")), "{shown:?}");
}
