//! What confinement holds here: as the workers say, and as attempts in throw-away workers show.

use std::{fmt, io, time::Duration};

use crate::{
    confine::{Layer, Layers},
    host::{Broken, Worker},
    message::{FromWorker, ToWorker},
    pool::Pool,
    probe::Probe,
    process,
};

/// How long an attempt may take.
const PROBE_WITHIN: Duration = Duration::from_secs(5);

/// What confinement holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinementReport {
    /// The layers, as a worker found them.
    pub layers: Vec<Layer>,
    /// What was attempted, and what came of it.
    pub attempts: Vec<Attempt>,
    /// Process id of the worker that reported the layers, while it lived.
    pub process_id: Option<u32>,
}

/// Something that a worker must not be able to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// What was attempted.
    pub what: String,
    /// What came of it under all layers together.
    pub outcome: Outcome,
    /// What came of it under one of the three layers that refuse system calls, by itself.
    pub alone: Vec<(Layers, Outcome)>,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The kernel refused; the text is its error.
    Refused(String),
    /// The kernel ended the worker; the text says how.
    Ended(String),
    /// It worked.
    Allowed,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Refused(error) => write!(f, "refused ({error})"),
            Outcome::Ended(how) => f.write_str(how),
            Outcome::Allowed => f.write_str("ALLOWED"),
        }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.outcome)
    }
}

impl fmt::Display for ConfinementReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for layer in &self.layers {
            writeln!(f, "{layer}")?;
        }
        for attempt in &self.attempts {
            writeln!(f, "{attempt}")?;
        }
        Ok(())
    }
}

impl Pool {
    /// What the kernel enforces for workers; starts one to ask.
    ///
    /// # Errors
    /// When no worker could be started.
    pub async fn layers(&self) -> io::Result<Vec<Layer>> {
        let worker = Worker::start(&self.schedule().starter, self.memory_bytes()).await?;
        let layers = worker.layers.clone();
        worker.end().await;
        Ok(layers)
    }

    /// Lists the layers, and tries in a worker each what none of them may do: under all layers, then under each of the
    /// three that refuse system calls by itself, since the first one to refuse hides the others.
    ///
    /// # Errors
    /// When a worker could not be started.
    pub async fn confinement_report(&self) -> io::Result<ConfinementReport> {
        let first = Worker::start(&self.schedule().starter, self.memory_bytes()).await?;
        let mut report = ConfinementReport {
            layers: first.layers.clone(),
            attempts: Vec::new(),
            process_id: first.process_id(),
        };
        first.end().await;
        for probe in Probe::ALL {
            let outcome = self.attempt(probe, Layers::All).await?;
            let mut alone = Vec::new();
            for layers in [Layers::Landlock, Layers::Limits, Layers::Seccomp] {
                alone.push((layers, self.attempt(probe, layers).await?));
            }
            report.attempts.push(Attempt { what: probe.name().to_owned(), outcome, alone });
        }
        Ok(report)
    }

    /// Tries one thing in a worker that is made for it.
    async fn attempt(&self, probe: Probe, layers: Layers) -> io::Result<Outcome> {
        let starter = &self.schedule().starter;
        let mut worker = Worker::start_with(starter, self.memory_bytes(), layers).await?;
        worker.send(&ToWorker::Probe(probe).encode()).await?;
        Ok(match tokio::time::timeout(PROBE_WITHIN, worker.read(64 << 10)).await {
            Ok(Ok(FromWorker::Probed { refusal: Some(error) })) => Outcome::Refused(error),
            Ok(Ok(FromWorker::Probed { refusal: None })) => Outcome::Allowed,
            Ok(Err(Broken::Ended)) => Outcome::Ended(process::describe(worker.end().await)),
            Ok(Ok(_) | Err(_)) | Err(_) => Outcome::Ended("the worker gave no answer".to_owned()),
        })
    }
}
