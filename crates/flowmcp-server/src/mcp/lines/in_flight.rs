//! The requests of a session that are not answered yet, by id.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::RequestId;
use tokio::sync::Notify;

use super::REQUESTS_IN_FLIGHT;

/// The table. An id stays in it until its answer is written or, once cancelled, until its handler has ended.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    states: Mutex<HashMap<RequestId, State>>,
    idle: Notify,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Running,
    /// The client gave it up: rmcp sends no answer, and the id is free when the handler ends.
    Cancelled,
    /// The handler has ended, and the answer is on its way.
    Answering,
}

/// Whether a request may run.
pub(super) enum Admission {
    /// Yes; the ticket travels with the request and is dropped when its handler ends.
    Ticket(Arc<Ticket>),
    /// Its id belongs to a request that is still in flight.
    Repeated,
    /// There are too many.
    Full,
}

/// Held by a running request.
#[derive(Debug)]
pub(super) struct Ticket {
    id: RequestId,
    table: Arc<InFlight>,
}

impl InFlight {
    pub(super) fn admit(table: &Arc<Self>, id: &RequestId) -> Admission {
        let mut states = table.lock();
        if states.contains_key(id) {
            return Admission::Repeated;
        }
        if states.len() >= REQUESTS_IN_FLIGHT {
            return Admission::Full;
        }
        states.insert(id.clone(), State::Running);
        Admission::Ticket(Arc::new(Ticket { id: id.clone(), table: Arc::clone(table) }))
    }

    /// The client cancelled the request.
    pub(super) fn cancelled(&self, id: &RequestId) {
        let mut states = self.lock();
        match states.get_mut(id) {
            Some(state @ State::Running) => *state = State::Cancelled,
            // rmcp may or may not still send the answer; either way the id is of no use to anyone.
            Some(State::Answering) => self.remove(states, id),
            Some(State::Cancelled) | None => {}
        }
    }

    /// The answer was written.
    pub(super) fn answered(&self, id: &RequestId) {
        self.remove(self.lock(), id);
    }

    /// Waits until no request is in flight.
    pub(super) async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            if self.lock().is_empty() {
                return;
            }
            notified.await;
        }
    }

    fn ended(&self, id: &RequestId) {
        let mut states = self.lock();
        match states.get_mut(id) {
            Some(state @ State::Running) => *state = State::Answering,
            Some(State::Cancelled) => self.remove(states, id),
            Some(State::Answering) | None => {}
        }
    }

    fn remove(&self, mut states: MutexGuard<'_, HashMap<RequestId, State>>, id: &RequestId) {
        states.remove(id);
        if states.is_empty() {
            self.idle.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.table.ended(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(table: &Arc<InFlight>, id: i64) -> Option<Arc<Ticket>> {
        match InFlight::admit(table, &RequestId::Number(id)) {
            Admission::Ticket(ticket) => Some(ticket),
            Admission::Repeated | Admission::Full => None,
        }
    }

    #[test]
    fn an_id_is_taken_until_its_answer_is_written() {
        let table = Arc::default();
        let ticket = admit(&table, 1).unwrap();
        assert!(admit(&table, 1).is_none());
        drop(ticket);
        assert!(admit(&table, 1).is_none(), "the answer is not written yet");
        table.answered(&RequestId::Number(1));
        assert!(admit(&table, 1).is_some());
    }

    #[test]
    fn a_cancelled_id_is_taken_until_its_handler_ends() {
        let table = Arc::default();
        let ticket = admit(&table, 1).unwrap();
        table.cancelled(&RequestId::Number(1));
        assert!(admit(&table, 1).is_none());
        drop(ticket);
        assert!(admit(&table, 1).is_some());
    }
}
