//! Worker processes, from outside: results, limits, confinement, and workers that turn against the host.

mod confinement;
mod hostile;
mod pool;
mod protocol;
mod snippets;
mod support;
