//! The command line. Results go to stdout, everything else to stderr.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// MCP server for declarative FlowMCP schemas.
#[derive(Debug, Parser)]
#[command(name = "flowmcp-server", version, about, long_about = None, disable_help_subcommand = true)]
pub struct Cli {
    /// Settings that hold for every command.
    #[command(flatten)]
    pub sources: SourceFlags,
    /// What to do; without a command: serve.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Where settings and packs come from.
#[derive(Debug, Args, Default, Clone)]
pub struct SourceFlags {
    /// Configuration file; without it and without --pack, config.toml of this folder.
    #[arg(short, long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Adds a pack: a schema file, a provider folder or a whole catalogue.
    #[arg(long, value_name = "DIR", global = true)]
    pub pack: Vec<PathBuf>,
    /// Lets packs use http:// roots and reach loopback and private addresses.
    #[arg(long, global = true)]
    pub allow_local: bool,
    /// Accepts schemas of another major version of the format.
    #[arg(long, value_name = "MAJOR", global = true)]
    pub accept_version: Vec<String>,
    /// Grants something to the handlers of all packs: fetch, or secret:NAME.
    #[arg(long, value_name = "GRANT", value_parser = crate::config::grant, global = true)]
    pub grant: Vec<String>,
    /// Sets one configuration key, such as http.retries=0.
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
}

impl SourceFlags {
    /// The same settings and keys with these packs instead of all others; with none, unchanged.
    pub(crate) fn with_packs(&self, paths: &[PathBuf]) -> SourceFlags {
        let mut flags = self.clone();
        if !paths.is_empty() {
            flags.set.push("packs=[]".to_owned());
            flags.pack = paths.to_vec();
        }
        flags
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve MCP clients, as the configuration says.
    Serve(ServeArgs),
    /// List what clients see.
    List(ListArgs),
    /// Call one tool, as a client would.
    Call(CallArgs),
    /// Run the tests inside the schemas.
    Test(TestArgs),
    /// Check schema files; needs no configuration.
    Validate(ValidateArgs),
    /// Explain the code of a finding.
    Explain {
        /// Code, such as VAL011.
        code: String,
    },
    /// Print the integrity hash of schemas.
    Hash(HashArgs),
    /// Record the hashes of packs in their lock files, or compare.
    Lock(LockArgs),
    /// List the tools that use a shared list.
    ListRefs(ListRefsArgs),
    /// Convert schemas of formats 1.x and 2.x to format 3; without --write the changes are only shown.
    Migrate(MigrateArgs),
    /// Show or check the configuration.
    Config {
        /// What to do with it.
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// Look at the sandboxes that run handlers.
    Sandbox {
        /// What to do with them.
        #[command(subcommand)]
        action: SandboxAction,
    },
    /// Print completions for a shell.
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// How to serve, instead of what the configuration says.
#[derive(Debug, Args, Default)]
pub struct ServeArgs {
    /// Serve on stdin and stdout only.
    #[arg(long, conflicts_with = "http")]
    pub stdio: bool,
    /// Serve streamable HTTP on this address only.
    #[arg(long, value_name = "ADDR:PORT")]
    pub http: Option<String>,
}

/// What to list.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Also what is hidden, with the reason.
    #[arg(long)]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to call.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// Tool: its MCP name, or namespace/tool.
    pub name: String,
    /// Arguments as a JSON object, or - to read them from stdin.
    pub arguments: Option<String>,
    /// Print the exact request instead of sending it; needs no keys.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which tests to run.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// Schema files or folders; without any, the packs of the configuration.
    pub paths: Vec<PathBuf>,
    /// Print the exact requests instead of sending them; needs no keys.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub json: bool,
}

/// What to hash.
#[derive(Debug, Args)]
pub struct HashArgs {
    /// Schema files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Also the hash of each tool's interface.
    #[arg(long)]
    pub tools: bool,
}

/// What to lock.
#[derive(Debug, Args)]
pub struct LockArgs {
    /// Packs; without any, those of the configuration.
    pub paths: Vec<PathBuf>,
    /// Write nothing; say what differs from the lock files.
    #[arg(long)]
    pub check: bool,
    /// Print JSON, one object a pack.
    #[arg(long)]
    pub json: bool,
}

/// Which list to look for.
#[derive(Debug, Args)]
pub struct ListRefsArgs {
    /// Name of the list.
    pub name: String,
    /// Packs; without any, those of the configuration.
    pub paths: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to validate.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Schema files or folders.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Also compile the handlers and run their factories, each in a confined worker.
    #[arg(long)]
    pub handlers: bool,
    /// Report only findings of these codes, or beginnings of codes such as SEC.
    #[arg(long, value_name = "CODE")]
    pub select: Vec<String>,
    /// Leave out findings of these codes.
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Count these as errors: a code, or `warnings` for all warnings.
    #[arg(long, value_name = "CODE|warnings")]
    pub deny: Vec<String>,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What to convert.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// Schema files or folders.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Replace the files; each old one stays beside the new one as FILE.bak.
    #[arg(long)]
    pub write: bool,
    /// Show the changes and write nothing, as without --write.
    #[arg(long, conflicts_with = "write")]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, with the source line.
    Text,
    /// For programs.
    Json,
    /// For code scanning (SARIF 2.1.0).
    Sarif,
}

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Effective values and where each came from, secrets hidden.
    Show,
    /// What is wrong with it.
    Check,
}

/// What to do with the sandboxes.
#[derive(Debug, Subcommand)]
pub enum SandboxAction {
    /// What the kernel of this machine keeps from the workers that run handlers, tried out.
    Check {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
