//! Every setting, once: its key in `skein.toml`, its variable, its flag, its default and what it is for.
//!
//! Help, man pages, completions, `config show` and `config sample` are made from this table, so a new setting is one
//! entry here and one reader in [`crate::plan`]. How the layers override each other is in [`crate::configuration`].

use std::ffi::OsString;
use std::path::PathBuf;

/// In the order of [`SETTINGS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Dir,
    Database,
    S3Bucket,
    S3Endpoint,
    S3Region,
    S3AccessKey,
    S3SecretKey,
    Server,
    Key,
    VaultKeyFile,
    VaultKey,
    VaultOlderKeys,
    NetworkAllowPrivate,
    TelemetryEndpoint,
    TelemetryHeaders,
    TelemetryContent,
    EmbedderUrl,
    EmbedderModel,
    EmbedderDimensions,
    EmbedderKeyFile,
    EmbedderKey,
    EmbedderDirectory,
    EmbedderSeconds,
    Log,
    LogFormat,
    Listen,
    AllowHosts,
    PublicUrl,
    JwtIssuer,
    JwtAudience,
    JwtJwksUrl,
    WorkersGraphQuery,
    WorkersLlmCall,
    WorkersRestCall,
    WorkersMcpTool,
}

impl Name {
    pub(crate) fn setting(self) -> &'static Setting {
        &SETTINGS[self as usize]
    }
}

pub(crate) struct Setting {
    pub(crate) name: Name,
    /// In `skein.toml`; a dot separates a table from its key.
    pub(crate) key: &'static str,
    pub(crate) variable: &'static str,
    /// Without its dashes.
    pub(crate) flag: &'static str,
    pub(crate) placeholder: &'static str,
    pub(crate) kind: Kind,
    pub(crate) display: Display,
    pub(crate) used_by: UsedBy,
    pub(crate) given_in: SettingSource,
    pub(crate) default: Option<&'static str>,
    pub(crate) what: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Path,
    Text,
    OneOf(&'static [&'static str]),
    /// Separated by commas in a variable; a flag can be given several times.
    List,
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Display {
    Plain,
    /// Without user, password and parameters.
    Address,
    /// Only whether it is set.
    Secret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsedBy {
    EveryCommand,
    Serve,
}

/// Where a value may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingSource {
    Anywhere,
    /// Never in a file, which is copied and shared, nor on the command line, which others see.
    Environment,
}

/// The value of a setting, whichever layer it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Path(PathBuf),
    Text(String),
    List(Vec<String>),
}

impl Value {
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Path(path) => path.as_os_str().is_empty(),
            Self::Text(text) => text.is_empty(),
            Self::List(list) => list.is_empty(),
        }
    }
}

impl Kind {
    /// Reads a value from text; `Err` says what was expected.
    pub(crate) fn read(self, text: OsString) -> Result<Value, String> {
        let text = match self {
            Self::Path => return Ok(Value::Path(text.into())),
            Self::Text | Self::OneOf(_) | Self::List => {
                text.into_string().map_err(|_| "text in UTF-8 is expected".to_owned())?
            }
        };
        match self {
            Self::OneOf(choices) if !text.is_empty() && !choices.contains(&text.as_str()) => {
                Err(format!("{text:?} is none of {}", choices.join(", ")))
            }
            Self::List => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Ok(Value::List(parts.map(str::to_owned).collect()))
            }
            _ => Ok(Value::Text(text)),
        }
    }
}

/// A setting of plain text for every command; the table says where one differs.
const fn setting(name: Name, key: &'static str, variable: &'static str, flag: &'static str) -> Setting {
    Setting {
        name,
        key,
        variable,
        flag,
        placeholder: "TEXT",
        kind: Kind::Text,
        display: Display::Plain,
        used_by: UsedBy::EveryCommand,
        given_in: SettingSource::Anywhere,
        default: None,
        what: "",
    }
}

/// A number of calls that a server makes at once.
const fn pool(name: Name, key: &'static str, variable: &'static str, flag: &'static str) -> Setting {
    Setting { placeholder: "NUMBER", used_by: UsedBy::Serve, default: Some("32"), ..setting(name, key, variable, flag) }
}

pub(crate) const SETTINGS: [Setting; 35] = [
    Setting {
        placeholder: "DIR",
        kind: Kind::Path,
        what: "Directory for the database, blobs and the lock [default: ~/.local/share/skein]",
        ..setting(Name::Dir, "dir", "SKEIN_DIR", "dir")
    },
    Setting {
        placeholder: "URL",
        display: Display::Address,
        what: "PostgreSQL in place of the database in DIR, as postgres://user@host/name",
        ..setting(Name::Database, "database", "SKEIN_DATABASE", "database")
    },
    Setting {
        placeholder: "NAME",
        what: "Bucket of an S3-compatible service for blobs, in place of DIR/blobs",
        ..setting(Name::S3Bucket, "s3.bucket", "SKEIN_S3_BUCKET", "s3-bucket")
    },
    Setting {
        placeholder: "URL",
        display: Display::Address,
        what: "Where that service is, as https://host",
        ..setting(Name::S3Endpoint, "s3.endpoint", "SKEIN_S3_ENDPOINT", "s3-endpoint")
    },
    Setting {
        placeholder: "NAME",
        default: Some("us-east-1"),
        what: "Its region",
        ..setting(Name::S3Region, "s3.region", "SKEIN_S3_REGION", "s3-region")
    },
    Setting {
        display: Display::Secret,
        what: "The name of the key to it",
        ..setting(Name::S3AccessKey, "s3.access_key", "SKEIN_S3_ACCESS_KEY", "s3-access-key")
    },
    Setting {
        display: Display::Secret,
        what: "The key to it",
        ..setting(Name::S3SecretKey, "s3.secret_key", "SKEIN_S3_SECRET_KEY", "s3-secret-key")
    },
    Setting {
        placeholder: "URL",
        display: Display::Address,
        what: "A server to talk to, in place of the one on DIR",
        ..setting(Name::Server, "server", "SKEIN_SERVER", "server")
    },
    Setting {
        placeholder: "KEY",
        display: Display::Secret,
        what: "The key to use; without one, commands on DIR act as the first administrator",
        ..setting(Name::Key, "key", "SKEIN_KEY", "key")
    },
    Setting {
        placeholder: "FILE",
        kind: Kind::Path,
        what: "Master keys that secrets are kept under; SKEIN_VAULT_KEY stands in its place [default: DIR/master.key]",
        ..setting(Name::VaultKeyFile, "vault.key_file", "SKEIN_VAULT_KEY_FILE", "vault-key-file")
    },
    Setting {
        display: Display::Secret,
        given_in: SettingSource::Environment,
        what: "The master key, in place of the file",
        ..setting(Name::VaultKey, "vault.key", "SKEIN_VAULT_KEY", "vault-key")
    },
    Setting {
        kind: Kind::List,
        display: Display::Secret,
        given_in: SettingSource::Environment,
        what: "Master keys that some secrets may still be kept under",
        ..setting(Name::VaultOlderKeys, "vault.older_keys", "SKEIN_VAULT_OLDER_KEYS", "vault-older-key")
    },
    Setting {
        placeholder: "NETWORK",
        kind: Kind::List,
        what: "A private network that services may be in, for example 10.1.0.0/16; can be given several times",
        ..setting(
            Name::NetworkAllowPrivate,
            "network.allow_private",
            "SKEIN_NETWORK_ALLOW_PRIVATE",
            "network-allow-private",
        )
    },
    Setting {
        placeholder: "URL",
        display: Display::Address,
        what: "A collector of OpenTelemetry that is told every run that ends, over OTLP/HTTP; /v1/traces is added",
        ..setting(Name::TelemetryEndpoint, "telemetry.endpoint", "SKEIN_TELEMETRY_ENDPOINT", "telemetry-endpoint")
    },
    Setting {
        kind: Kind::List,
        display: Display::Secret,
        given_in: SettingSource::Environment,
        what: "What opens the collector: headers written name=value",
        ..setting(Name::TelemetryHeaders, "telemetry.headers", "SKEIN_TELEMETRY_HEADERS", "telemetry-header")
    },
    Setting {
        placeholder: "WHETHER",
        kind: Kind::OneOf(&["off", "on"]),
        default: Some("off"),
        what: "Whether it is also told what was said: what calls were given and gave, and why they failed",
        ..setting(Name::TelemetryContent, "telemetry.content", "SKEIN_TELEMETRY_CONTENT", "telemetry-content")
    },
    Setting {
        placeholder: "URL",
        display: Display::Address,
        what: "Where vectors of what is said are made, by an API like OpenAI's /embeddings [default: here, by a built-in table]",
        ..setting(Name::EmbedderUrl, "embedder.url", "SKEIN_EMBEDDER_URL", "embedder-url")
    },
    Setting {
        placeholder: "NAME",
        what: "The model that makes them there",
        ..setting(Name::EmbedderModel, "embedder.model", "SKEIN_EMBEDDER_MODEL", "embedder-model")
    },
    Setting {
        placeholder: "NUMBER",
        what: "How many numbers each vector shall have, for models that let one choose",
        ..setting(Name::EmbedderDimensions, "embedder.dimensions", "SKEIN_EMBEDDER_DIMENSIONS", "embedder-dimensions")
    },
    Setting {
        placeholder: "FILE",
        kind: Kind::Path,
        what: "A file with the key to it; SKEIN_EMBEDDER_KEY stands in its place",
        ..setting(Name::EmbedderKeyFile, "embedder.key_file", "SKEIN_EMBEDDER_KEY_FILE", "embedder-key-file")
    },
    Setting {
        display: Display::Secret,
        given_in: SettingSource::Environment,
        what: "The key to it",
        ..setting(Name::EmbedderKey, "embedder.key", "SKEIN_EMBEDDER_KEY", "embedder-key")
    },
    Setting {
        placeholder: "DIR",
        kind: Kind::Path,
        what: "A sentence-transformer model that makes vectors in this process; only in builds with the feature transformer",
        ..setting(Name::EmbedderDirectory, "embedder.directory", "SKEIN_EMBEDDER_DIRECTORY", "embedder-directory")
    },
    Setting {
        placeholder: "NUMBER",
        default: Some("60"),
        what: "How many seconds the vectors of up to 128 texts may take",
        ..setting(Name::EmbedderSeconds, "embedder.seconds", "SKEIN_EMBEDDER_SECONDS", "embedder-seconds")
    },
    Setting {
        placeholder: "FILTER",
        what: "What to log, for example skein_store=debug [default: info for serve, else warn]",
        ..setting(Name::Log, "log", "SKEIN_LOG", "log")
    },
    Setting {
        placeholder: "FORMAT",
        kind: Kind::OneOf(&["text", "json"]),
        default: Some("text"),
        what: "How to log it",
        ..setting(Name::LogFormat, "log_format", "SKEIN_LOG_FORMAT", "log-format")
    },
    Setting {
        placeholder: "ADDRESS",
        used_by: UsedBy::Serve,
        default: Some("127.0.0.1:7420"),
        what: "Address and port; port 0 takes a free one",
        ..setting(Name::Listen, "listen", "SKEIN_LISTEN", "listen")
    },
    Setting {
        placeholder: "HOST",
        kind: Kind::List,
        used_by: UsedBy::Serve,
        what: "Another host name the server answers to; can be given several times",
        ..setting(Name::AllowHosts, "allow_hosts", "SKEIN_ALLOW_HOSTS", "allow-host")
    },
    Setting {
        placeholder: "URL",
        used_by: UsedBy::Serve,
        what: "Where browsers find the server, when that is not the address it listens on",
        ..setting(Name::PublicUrl, "public_url", "SKEIN_PUBLIC_URL", "public-url")
    },
    Setting {
        placeholder: "URL",
        used_by: UsedBy::Serve,
        what: "Who issues the bearer tokens (JWT) that are accepted",
        ..setting(Name::JwtIssuer, "jwt.issuer", "SKEIN_JWT_ISSUER", "jwt-issuer")
    },
    Setting {
        used_by: UsedBy::Serve,
        what: "Whom they must be issued for",
        ..setting(Name::JwtAudience, "jwt.audience", "SKEIN_JWT_AUDIENCE", "jwt-audience")
    },
    Setting {
        placeholder: "URL",
        used_by: UsedBy::Serve,
        what: "Where the issuer publishes its keys (JWKS)",
        ..setting(Name::JwtJwksUrl, "jwt.jwks_url", "SKEIN_JWT_JWKS_URL", "jwt-jwks-url")
    },
    Setting {
        what: "How many queries of what is kept are made at once; 0 leaves them to skein worker",
        ..pool(Name::WorkersGraphQuery, "workers.graph_query", "SKEIN_WORKERS_GRAPH_QUERY", "workers-graph-query")
    },
    Setting {
        what: "How many calls of models are made at once",
        ..pool(Name::WorkersLlmCall, "workers.llm_call", "SKEIN_WORKERS_LLM_CALL", "workers-llm-call")
    },
    Setting {
        what: "How many calls of HTTP services are made at once",
        ..pool(Name::WorkersRestCall, "workers.rest_call", "SKEIN_WORKERS_REST_CALL", "workers-rest-call")
    },
    Setting {
        what: "How many calls of MCP tools are made at once",
        ..pool(Name::WorkersMcpTool, "workers.mcp_tool", "SKEIN_WORKERS_MCP_TOOL", "workers-mcp-tool")
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_names_of_a_setting_follow_from_its_key() {
        for (place, setting) in SETTINGS.iter().enumerate() {
            assert_eq!(setting.name as usize, place, "{}", setting.key);
            let words = setting.key.replace('.', "_");
            assert_eq!(setting.variable, format!("SKEIN_{}", words.to_uppercase()));
            // A flag that can be repeated names one of the list.
            let flag = if setting.kind == Kind::List { words.trim_end_matches('s').to_owned() } else { words };
            assert_eq!(setting.flag, flag.replace('_', "-"));
            assert!(!setting.what.is_empty());
        }
    }
}
