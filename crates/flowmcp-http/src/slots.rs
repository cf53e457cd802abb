//! How many requests may be in flight to one host.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::{Position, Url};

/// Above this many hosts, those without a request in flight are forgotten.
const REMEMBERED_HOSTS: usize = 1024;

/// Leave to have one request in flight; ends when dropped.
pub(crate) struct Slot {
    _permit: Option<OwnedSemaphorePermit>,
}

/// The slots of all hosts.
pub(crate) struct Slots {
    per_host: usize,
    hosts: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
}

impl Slots {
    pub(crate) fn new(per_host: usize) -> Self {
        Slots { per_host, hosts: Mutex::default() }
    }

    /// Waits for a free slot of the URL's host and port.
    pub(crate) async fn take(&self, url: &Url) -> Slot {
        let slots = self.of(url);
        let permit = match Arc::clone(&slots).try_acquire_owned() {
            Ok(permit) => Some(permit),
            // The semaphores are never closed, which is the only error.
            Err(_) => slots.acquire_owned().await.ok(),
        };
        Slot { _permit: permit }
    }

    fn of(&self, url: &Url) -> Arc<Semaphore> {
        let host = &url[Position::BeforeHost..Position::AfterPort];
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slots) = hosts.get(host) {
            return Arc::clone(slots);
        }
        if hosts.len() >= REMEMBERED_HOSTS {
            hosts.retain(|_, slots| Arc::strong_count(slots) > 1);
        }
        let slots = Arc::new(Semaphore::new(self.per_host));
        hosts.insert(host.into(), Arc::clone(&slots));
        slots
    }
}
