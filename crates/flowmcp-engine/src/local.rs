//! The call of a query of a local database: it takes the place of rendering and sending.

use std::{sync::Arc, time::Instant};

use flowmcp_resources::{Database, Limits, Statement};
use flowmcp_spec::schema::Query;

use crate::{
    Content, Output,
    bind::Arguments,
    hooks::Ended,
    output::{self, OutputContext},
};

/// A query and the database that it asks.
pub(crate) struct LocalQuery {
    pub(crate) database: Arc<Database>,
    pub(crate) query: Query,
}

impl std::fmt::Debug for LocalQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalQuery").field("query", &self.query).finish_non_exhaustive()
    }
}

impl LocalQuery {
    /// Runs the query. Rows that are left out are named in the content too, or a model would take the rest for all.
    pub(crate) async fn run(
        &self,
        arguments: &Arguments,
        context: &OutputContext<'_>,
        deadline: Instant,
    ) -> Result<Output, Ended> {
        let failed = |reason: &dyn std::fmt::Display| {
            Box::new(Output::error(context.redactor.redact(&reason.to_string()).into_owned()))
        };
        let statement = Statement::new(&self.query, &arguments.values).map_err(|error| failed(&error))?;
        let limits = Limits { bytes: context.limits.content_bytes, ..Limits::default() };
        let rows = self.database.query(statement, limits, deadline).await.map_err(|error| failed(&error))?;
        let mut output = output::from_handler_result(&rows.json, context);
        for note in rows.notes {
            output.content.push(Content::Text(format!("[{note}]")));
            output.notes.push(note);
        }
        Ok(output)
    }
}
