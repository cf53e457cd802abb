//! The commands: each prints its result to stdout and returns an exit code.

mod call;
mod config;
mod hash;
mod list;
mod list_refs;
mod lock;
mod migrate;
mod sandbox;
mod serve;
mod test;
mod validate;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use clap::CommandFactory;
use flowmcp_engine::{Engine, PackPolicy, params::ServerParams};
use flowmcp_http::HttpTransport;
use flowmcp_plugin::NetworkAccess;
use flowmcp_worker::Pool;

use crate::{
    cli::{Cli, Command, ConfigAction, SandboxAction, ServeArgs, SourceFlags},
    config::{Config, Flag, Loaded, Pack, Sources},
    env_file::server_params,
    handlers,
    load::{Catalogue, Keep, PackSource, load},
    logging,
    selection::no_code,
};

/// Exit code: the thing asked about is not in order.
pub const NOT_IN_ORDER: u8 = 1;
/// Exit code: the command could not run.
pub const COULD_NOT_RUN: u8 = 2;

/// The process environment, read once by `main`.
pub type Environment = BTreeMap<String, String>;

/// Runs a parsed command line.
pub fn run(cli: Cli, environment: &Environment) -> ExitCode {
    let result = match cli.command {
        None => serve::run(&cli.sources, &ServeArgs::default(), environment),
        Some(Command::Serve(args)) => serve::run(&cli.sources, &args, environment),
        Some(Command::List(args)) => list::run(&cli.sources, &args, environment),
        Some(Command::Call(args)) => call::run(&cli.sources, &args, environment),
        Some(Command::Test(args)) => test::run(&cli.sources, &args, environment),
        Some(Command::Validate(args)) => validate::run(&cli.sources, &args),
        Some(Command::Explain { code }) => explain(&code),
        Some(Command::Hash(args)) => hash::run(&args),
        Some(Command::Lock(args)) => lock::run(&cli.sources, &args, environment),
        Some(Command::ListRefs(args)) => list_refs::run(&cli.sources, &args, environment),
        Some(Command::Migrate(args)) => migrate::run(&args),
        Some(Command::Config { action: ConfigAction::Show }) => config::show(&cli.sources, environment),
        Some(Command::Config { action: ConfigAction::Check }) => config::check(&cli.sources, environment),
        Some(Command::Sandbox { action: SandboxAction::Check { json } }) => {
            sandbox::check(&cli.sources, json, environment)
        }
        Some(Command::Completions { shell }) => {
            let mut page = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "flowmcp-server", &mut page);
            print(&String::from_utf8_lossy(&page)).map(|()| 0)
        }
        Some(Command::Man) => manual(),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            logging::say(&format!("error: {error:#}"));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// `flowmcp-server list | head` closes our stdout early, which is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes a result to stdout.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn explain(code: &str) -> Result<u8> {
    match flowmcp_validate::explain(&code.to_ascii_uppercase()) {
        Some(page) => print(page).map(|()| 0),
        None => bail!(no_code(code, None)),
    }
}

fn manual() -> Result<u8> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    print(&String::from_utf8_lossy(&page)).map(|()| 0)
}

/// The configuration where no flag names one.
const STANDARD_FILE: &str = "config.toml";

/// Reads the configuration that the flags name; there must be one, or a pack.
fn configuration(flags: &SourceFlags, serve: Vec<Flag>, environment: &Environment) -> Result<Loaded> {
    if flags.config.is_none() && flags.pack.is_empty() && !Path::new(STANDARD_FILE).exists() {
        bail!(
            "nothing to serve: there is no config.toml in this folder; name one with -c FILE, or a pack with --pack DIR"
        );
    }
    settings(flags, serve, environment)
}

/// Reads the configuration that the flags name; without one, the defaults.
fn settings(flags: &SourceFlags, serve: Vec<Flag>, environment: &Environment) -> Result<Loaded> {
    let standard = || Path::new(STANDARD_FILE).exists().then(|| STANDARD_FILE.into());
    let file = match &flags.config {
        None if flags.pack.is_empty() => standard(),
        named => named.clone(),
    };
    // A path that somebody typed has to be there; a pack that a configuration names may come later.
    for path in &flags.pack {
        refuse_unreadable(path)?;
    }
    let sources = Sources {
        file,
        environment: environment.clone(),
        set: flags.set.clone(),
        flags: serve,
        packs: flags.pack.clone(),
        allow_local: flags.allow_local,
    };
    let mut loaded = Config::load(&sources)?;
    for pack in &mut loaded.config.packs {
        pack.accept_versions.extend(flags.accept_version.iter().cloned());
        pack.grants.extend(flags.grant.iter().cloned());
    }
    Ok(loaded)
}

/// A path of the command line has to be there and open.
fn refuse_unreadable(path: &Path) -> Result<()> {
    let open = || {
        let kind = fs::metadata(path)?.file_type();
        if kind.is_dir() {
            fs::read_dir(path).map(drop)
        } else if kind.is_file() {
            fs::File::open(path).map(drop)
        } else {
            // Opening a pipe waits for a writer; what reads files says that it is none.
            Ok(())
        }
    };
    open().with_context(|| format!("{} cannot be read", path.display()))
}

/// Everything that commands about tools need.
struct Session {
    config: Config,
    catalogue: Catalogue,
    params: ServerParams,
}

/// Reads the configuration, loads its packs and starts logging.
fn session(flags: &SourceFlags, serve: Vec<Flag>, environment: &Environment, keep: Keep) -> Result<Session> {
    let loaded = configuration(flags, serve, environment)?;
    logging::start(&loaded.config.log)?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let config = loaded.config;
    let (values, warnings) = server_params(&config, environment)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    if !config.packs.iter().any(|pack| pack.enabled) {
        tracing::warn!(
            "there is no pack, so there are no tools: add [[packs]] to the configuration, or --pack DIR"
        );
    }
    let mut params = ServerParams::new(values, config.params.bind.clone());
    let catalogue = load(&pack_sources(&config), &mut params, keep);
    Ok(Session { config, catalogue, params })
}

impl Session {
    /// Workers for handlers; none is started yet.
    fn pool(&self) -> Result<Arc<Pool>> {
        handlers::pool(self.config.pool_settings()).context("workers for handlers cannot be started")
    }

    /// The engine over the session's tools.
    fn engine(mut self) -> Result<(Config, Arc<Engine>)> {
        let transport =
            HttpTransport::new(self.config.http_settings()?).context("the HTTP client cannot be set up")?;
        let snapshot = self.catalogue.snapshot();
        let settings = self.config.engine_settings();
        let pool = self.pool()?;
        let engine = Engine::new(snapshot, Arc::new(transport), self.params, settings).with_pool(pool);
        Ok((self.config, Arc::new(engine)))
    }
}

fn pack_sources(config: &Config) -> Vec<PackSource> {
    let packs = config.packs.iter().filter(|pack| pack.enabled);
    packs.map(|pack| pack_source(pack, config)).collect()
}

fn pack_source(pack: &Pack, config: &Config) -> PackSource {
    let name = pack.name.clone().unwrap_or_else(|| pack.path.display().to_string());
    PackSource {
        path: pack.path.clone(),
        policy: PackPolicy {
            network: if pack.allow_local { NetworkAccess::Local } else { NetworkAccess::Public },
            hosts: pack.hosts.clone(),
            grants: pack.grants.clone(),
            publish_output_schema: pack.publish_output_schema,
            ..PackPolicy::new(name)
        },
        sandbox: config.sandbox_settings(pack),
        accept_versions: pack.accept_versions.clone(),
        file_bytes: config.limits.schema_file,
        integrity: pack.integrity.unwrap_or_default(),
    }
}

/// Reports what loading left out: a line for each file, and what it came to.
fn report_loading(catalogue: &Catalogue) {
    for warning in &catalogue.warnings {
        tracing::warn!("{warning}");
    }
    for file in &catalogue.files {
        if let Some(reason) = &file.unreadable {
            tracing::warn!("{reason}");
        } else if let Some(finding) = file.first_blocking() {
            let place = file.source.as_ref().zip(finding.span).map(|(source, span)| {
                let (line, column) = source.line_column(span.start);
                format!(":{line}:{column}")
            });
            let more =
                file.diagnostics.iter().filter(|other| other.blocks != flowmcp_spec::Blocks::Nothing).count()
                    - 1;
            let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
            tracing::warn!("{}{}: {} {finding}{more}", file.path, place.unwrap_or_default(), finding.code);
        }
    }
}
