//! What the other crates need of the configuration, in their own types.

use std::{fs::File, io::Read};

use flowmcp_engine::{Settings, Types};
use flowmcp_http::HttpSettings;
use flowmcp_plugin::{ContextLife, NetworkGrant, RetryPolicy, SandboxLimits, SandboxSettings};
use flowmcp_worker::PoolSettings;

use super::{Config, ConfigError, Isolation, Pack, UnknownArguments};

/// Largest file of certificates.
const LARGEST_CA_FILE: u64 = 4 << 20;

impl Config {
    /// The engine's part of the settings.
    pub fn engine_settings(&self) -> Settings {
        let standard = Settings::default();
        Settings {
            limits: flowmcp_engine::Limits {
                call_deadline: self.limits.call_deadline,
                response_bytes: self.limits.response,
                handler_input_bytes: self.limits.handler_input,
                content_bytes: self.limits.content,
                argument_depth: self.limits.argument_nesting,
                calls: self.limits.calls,
                calls_per_host: self.limits.calls_per_host,
                ..standard.limits
            },
            unknown_arguments: match self.serve.unknown_arguments {
                UnknownArguments::Drop => flowmcp_engine::UnknownArguments::Drop,
                UnknownArguments::Refuse => flowmcp_engine::UnknownArguments::Refuse,
            },
            types: if self.serve.strict_types { Types::Strict } else { Types::Coerce },
            retry: RetryPolicy { retries: self.http.retries, ..standard.retry },
        }
    }

    /// The part of the settings that is about workers.
    pub fn pool_settings(&self) -> PoolSettings {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        PoolSettings {
            isolation: match self.sandboxes.isolation {
                Isolation::Process => flowmcp_worker::Isolation::Process,
                Isolation::Strict => flowmcp_worker::Isolation::Strict,
                Isolation::Thread => flowmcp_worker::Isolation::Thread,
            },
            log_lines: count(self.limits.handler_log_lines),
            fetches: count(self.limits.handler_fetches),
            memory_bytes: self.limits.handler_memory,
            ..PoolSettings::default()
        }
    }

    /// What a pack's handlers may do and use.
    pub fn sandbox_settings(&self, pack: &Pack) -> SandboxSettings {
        let granted = pack.grants.iter().any(|grant| grant == "fetch");
        SandboxSettings {
            limits: SandboxLimits {
                cpu: self.limits.handler_cpu,
                memory_bytes: self.limits.handler_memory,
                stack_bytes: self.limits.handler_stack,
                output_bytes: self.limits.response,
            },
            network: if granted { NetworkGrant::Granted } else { NetworkGrant::Refused },
            context: if pack.reuse { ContextLife::Schema } else { ContextLife::Call },
        }
    }

    /// The transport's part of the settings.
    ///
    /// # Errors
    /// [`ConfigError::File`] when `http.ca_file` cannot be read or holds no certificate.
    pub fn http_settings(&self) -> Result<HttpSettings, ConfigError> {
        Ok(HttpSettings {
            connect_timeout: self.limits.connect,
            proxy: self.http.proxy.as_ref().map(|url| url.expose().to_owned()),
            resolve: self.http.resolve.clone(),
            ca_pem: self.ca_pem()?,
            private_hosts: self.http.private_hosts.clone(),
            connections_per_host: self.limits.calls_per_host,
            ..HttpSettings::default()
        })
    }

    /// The certificates of `http.ca_file` as PEM; empty where none is configured.
    ///
    /// # Errors
    /// [`ConfigError::File`] when the file cannot be read or holds no certificate.
    pub fn ca_pem(&self) -> Result<Vec<u8>, ConfigError> {
        const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";
        let Some(path) = &self.http.ca_file else { return Ok(Vec::new()) };
        let refuse = |reason| ConfigError::File { key: "http.ca_file", path: path.clone(), reason };
        let mut pem = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LARGEST_CA_FILE + 1).read_to_end(&mut pem))
            .map_err(|error| refuse(error.to_string()))?;
        if pem.len() as u64 > LARGEST_CA_FILE {
            return Err(refuse(format!("it is larger than {LARGEST_CA_FILE} bytes")));
        }
        if !pem.windows(BEGIN.len()).any(|window| window == BEGIN) {
            return Err(refuse("it holds no certificate in PEM form".to_owned()));
        }
        Ok(pem)
    }
}
