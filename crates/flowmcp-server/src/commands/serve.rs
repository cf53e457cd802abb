//! `serve`: MCP on stdio, over HTTP, or both.

use std::{sync::Arc, time::Instant};

use anyhow::{Context, Result, bail};
use flowmcp_engine::{DEFAULT_VIEW, Engine};
use flowmcp_worker::Isolation;
use tokio_util::sync::CancellationToken;

use super::{Environment, Session, report_loading, sandbox::shortfall, session};
use crate::{
    cli::{ServeArgs, SourceFlags},
    config::{Config, Flag},
    load::{Catalogue, Keep},
    mcp,
};

pub(super) fn run(flags: &SourceFlags, args: &ServeArgs, environment: &Environment) -> Result<u8> {
    let start = Instant::now();
    let mut session = session(flags, overrides(args), environment, Keep::ToolsOnly)?;
    if args.stdio {
        session.config.serve.http = None;
    }
    report_loading(&session.catalogue);
    for key in session.params.short() {
        tracing::info!(
            "{key} has fewer than 8 characters, so its value is not taken out of results and log lines"
        );
    }
    summarise(&session, start);
    let serve = &session.config.serve;
    if !serve.stdio && serve.http.is_none() {
        bail!("nothing to listen on: set serve.stdio or serve.http, or give --stdio or --http ADDR:PORT");
    }
    let has_handlers = session.catalogue.tools.iter().any(|tool| tool.hooks().any());
    let (config, engine) = session.engine()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no async runtime")?;
    if has_handlers {
        runtime.spawn(report_confinement(Arc::clone(&engine), config.pool_settings().isolation));
    }
    let result = runtime.block_on(listen(&config, engine));
    // A blocking read of stdin may still be waiting; nothing is left that it could do.
    runtime.shutdown_background();
    result.map(|()| 0)
}

/// Asks a worker what confines it, while clients are served already, and says what is missing.
async fn report_confinement(engine: Arc<Engine>, isolation: Isolation) {
    let Some(pool) = engine.pool() else { return };
    let layers = match isolation {
        Isolation::Process | Isolation::Strict => pool.layers().await,
        Isolation::Thread => Ok(Vec::new()),
    };
    match layers {
        Ok(layers) => {
            if let Some(text) = shortfall(isolation, &layers) {
                tracing::warn!("{text}");
            }
        }
        Err(error) => tracing::warn!("handlers cannot run: no worker could be started: {error}"),
    }
}

/// `--stdio` and `--http` replace what the configuration says of listeners.
fn overrides(args: &ServeArgs) -> Vec<Flag> {
    let flag = |name, key, value: &str| Flag { name, key, value: value.to_owned() };
    match &args.http {
        Some(address) => vec![flag("--http", "serve.http", address), flag("--http", "serve.stdio", "false")],
        None if args.stdio => vec![flag("--stdio", "serve.stdio", "true")],
        None => Vec::new(),
    }
}

async fn listen(config: &Config, engine: Arc<Engine>) -> Result<()> {
    let shutdown = mcp::shutdown_signal()?;
    // The two listeners end together: a client that closes stdin ends the process.
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let watch = async {
        tokio::select! {
            () = shutdown.cancelled() => stop.cancel(),
            () = stop.cancelled() => {}
        }
        Ok(())
    };
    let stdio = async {
        if config.serve.stdio {
            let settings = mcp::LineSettings {
                line_bytes: config.limits.request,
                drain: config.limits.drain,
                ..mcp::LineSettings::default()
            };
            mcp::serve_stdio(Arc::clone(&engine), DEFAULT_VIEW, settings, stopped.clone()).await?;
            stopped.cancel();
        }
        anyhow::Ok(())
    };
    let http = async {
        if let Some(address) = config.serve.http {
            let settings = mcp::HttpSettings {
                allowed_hosts: config.serve.allowed_hosts.clone(),
                allowed_origins: config.serve.allowed_origins.clone(),
                request_bytes: config.limits.request,
                drain: config.limits.drain,
                ..mcp::HttpSettings::new(address)
            };
            mcp::serve_http(Arc::clone(&engine), DEFAULT_VIEW, settings, stopped.clone()).await?;
            stopped.cancel();
        }
        Ok(())
    };
    tokio::try_join!(watch, stdio, http).map(|_| ())
}

fn summarise(session: &Session, start: Instant) {
    let Catalogue { counts, tools, .. } = &session.catalogue;
    let visible = tools.iter().filter(|tool| tool.hidden.is_none()).count();
    let hidden = session.catalogue.hidden();
    let hidden_tools: usize = hidden.values().sum();
    let reasons: Vec<String> = hidden.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    tracing::info!(
        "{} packs, {} schemas, {} lists, {} other files (not served yet), {} files left out; \
         {visible} tools visible, {hidden_tools} hidden{reasons}; 0 resources, 0 prompts, 0 plugins; {} ms",
        counts.packs,
        counts.schemas,
        counts.lists,
        counts.others,
        counts.broken,
        start.elapsed().as_millis(),
    );
}
