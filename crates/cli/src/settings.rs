//! The flags of all commands, and what the environment says instead of them.

use std::path::{Path, PathBuf};

use clap::Args;
use sexton_client::connect::Credentials;
pub(crate) use sexton_model::text::quoted;
use sexton_server::serve::SelfSigned;
use sexton_store::embedded::is_open_to_others;

use crate::allowing::AllowingHere;
use crate::failure::Failure;
use crate::lock::{self, RunningServer};
use crate::world::exposed;

/// The usual data directory.
pub(crate) const DATA: &str = ".sexton";

/// The variable that names a server.
pub(crate) const SERVER_VARIABLE: &str = "SEXTON_SERVER";

/// The flags of all commands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct Settings {
    /// Namespace; "default" if the target does not say otherwise
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// Directory of the embedded store; a server that serves it is used
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "SEXTON_DATA",
        hide_env_values = true,
        default_value = DATA
    )]
    pub(crate) data: PathBuf,
    /// Use the server at this address [env: SEXTON_SERVER]
    #[arg(long, global = true, value_name = "URL", conflicts_with = "context")]
    pub(crate) server: Option<String>,
    /// Use the cluster of this kubeconfig context
    ///
    /// The current context is only used by "kubectl sexton".
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Kubeconfig with the contexts, instead of those that KUBECONFIG names, or ~/.kube/config
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// File with the token for the server, and nothing else; the variable SEXTON_TOKEN does as well
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// File with the certificates to trust for the server
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// No colours; they are never used when the output is not a terminal
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_color: bool,
    /// Tell on stderr what is done; twice for every request
    #[arg(short, long, global = true, action = clap::ArgAction::Count, hide_short_help = true)]
    pub(crate) verbose: u8,
    /// Whether the address of the server is that of the variable.
    #[arg(skip)]
    pub(crate) server_of_variable: bool,
    /// What methods of classes on a cluster may run and call here, for commands that run them.
    #[arg(skip)]
    pub(crate) allowing: Option<AllowingHere>,
}

impl Settings {
    /// Whether a server or a cluster is named.
    pub(crate) fn names_target(&self) -> bool {
        self.server.is_some() || self.context.is_some() || self.kubeconfig.is_some()
    }

    /// The flags that lead to the same target and namespace, to be typed behind a command that is proposed.
    pub(crate) fn flags(&self) -> String {
        format!("{}{}", self.namespace_flag(), self.target_flags())
    }

    /// The flag of the namespace alone.
    pub(crate) fn namespace_flag(&self) -> String {
        self.namespace.as_ref().map(|namespace| format!(" -n {}", quoted(namespace))).unwrap_or_default()
    }

    /// What the target is called, before it is known whether it can be reached. A data directory that a server serves is
    /// reached through that server, so the server is the target.
    pub(crate) fn target_name(&self) -> String {
        match (&self.server, &self.context) {
            (Some(url), _) => url.clone(),
            (None, Some(context)) => format!("context {context}"),
            (None, None) => match lock::server(&self.data) {
                Some(server) => server.url,
                None => format!("{} (embedded)", self.data.display()),
            },
        }
    }

    /// The same without the namespace.
    pub(crate) fn target_flags(&self) -> String {
        let data = self.data.display().to_string();
        let data = (data != DATA && self.server.is_none() && self.context.is_none()).then_some(data);
        let file = |file: &Option<PathBuf>| file.as_ref().map(|file| file.display().to_string());
        let flags = [
            ("--server", self.server.clone()),
            ("--context", self.context.clone()),
            ("--kubeconfig", file(&self.kubeconfig)),
            ("--data", data),
            ("--token-file", file(&self.token_file)),
            ("--certificate-authority", file(&self.certificate_authority)),
        ];
        flags
            .iter()
            .filter_map(|(flag, value)| Some(format!(" {flag} {}", quoted(value.as_ref()?))))
            .collect()
    }

    /// The same for the server of a data directory. Its own files are used where the settings name none.
    pub(crate) fn credentials_for(&self, server: &RunningServer) -> Result<Credentials, Failure> {
        let mut settings = self.clone();
        if let Some(own) = server.self_signed.clone().map(SelfSigned::at) {
            let named = settings.token_file.is_some() || std::env::var_os("SEXTON_TOKEN").is_some();
            settings.token_file = settings.token_file.or((!named).then(|| own.token()));
            let authority = (!server.foreign_certificate).then(|| own.authority());
            settings.certificate_authority = settings.certificate_authority.or(authority);
        }
        settings.credentials()
    }

    /// Token and certificates for a server.
    pub(crate) fn credentials(&self) -> Result<Credentials, Failure> {
        let token = match &self.token_file {
            Some(file) => {
                if is_open_to_others(file) {
                    return Err(exposed(&format!("the token in {}", file.display()), file, "600"));
                }
                let text = std::fs::read_to_string(file).map_err(|error| {
                    Failure::new(format!("cannot read the token in {}: {error}", file.display()))
                })?;
                let of = format!("the token in {}", file.display());
                Some(single_token(&text).map_err(|failure| failure.of(&of))?)
            }
            None => match std::env::var("SEXTON_TOKEN").ok().filter(|token| !token.is_empty()) {
                Some(text) => {
                    Some(single_token(&text).map_err(|failure| failure.of("the variable SEXTON_TOKEN"))?)
                }
                None => None,
            },
        };
        let authority = self.certificate_authority.clone();
        authority.as_deref().map(check_certificates).transpose()?;
        Ok(Credentials { token, authority })
    }
}

/// How a certificate in PEM form begins.
const PEM: &str = "-----BEGIN CERTIFICATE-----";

/// Whether a file has certificates: without any, the error would only say that the server is not trusted.
fn check_certificates(file: &Path) -> Result<(), Failure> {
    let text = std::fs::read(file).map_err(|error| {
        Failure::new(format!("cannot read the certificates in {}: {error}", file.display()))
    })?;
    match String::from_utf8_lossy(&text).contains(PEM) {
        true => Ok(()),
        false => Err(Failure::new(format!("{} holds no certificate in PEM form", file.display()))),
    }
}

/// Why a text is not a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoToken {
    Empty,
    /// A file of `serve --tokens` was given.
    List,
    /// It cannot be sent.
    Characters,
}

impl NoToken {
    fn of(self, what: &str) -> Failure {
        match self {
            NoToken::Empty => Failure::new(format!("{what} is empty")),
            NoToken::List => Failure::new(format!("{what} is not a token but a list, as a server reads it"))
                .detail("a client needs one token, without the user behind it")
                .next("make a file of it", "cut -d, -f1 TOKENS | head -1 > TOKEN"),
            NoToken::Characters => {
                Failure::new(format!("{what} is not a token: it has spaces, or more than one line"))
            }
        }
    }
}

/// The only token of a text.
fn single_token(text: &str) -> Result<String, NoToken> {
    match text.trim() {
        "" => Err(NoToken::Empty),
        list if list.contains(',') => Err(NoToken::List),
        token if token.chars().all(|c| c.is_ascii_graphic()) => Ok(token.to_owned()),
        _ => Err(NoToken::Characters),
    }
}

impl Settings {
    /// The kubeconfig files, in the order in which they count.
    pub(crate) fn kubeconfig_files(&self) -> Vec<PathBuf> {
        self.kubeconfig.clone().map_or_else(usual_kubeconfig_files, |file| vec![file])
    }
}

fn usual_kubeconfig_files() -> Vec<PathBuf> {
    match std::env::var_os("KUBECONFIG").filter(|paths| !paths.is_empty()) {
        Some(paths) => std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => std::env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word() {
        assert_eq!(single_token("0123456789abcdef\n").as_deref(), Ok("0123456789abcdef"));
        assert_eq!(single_token(" \n"), Err(NoToken::Empty));
        assert_eq!(single_token("0123456789abcdef,admin\n"), Err(NoToken::List));
        assert_eq!(single_token("0123456789abcdef\nfedcba9876543210\n"), Err(NoToken::Characters));
        assert_eq!(single_token("-----BEGIN PRIVATE KEY-----"), Err(NoToken::Characters));
    }

    #[test]
    fn words_are_quoted_when_a_shell_would_read_them() {
        assert_eq!(quoted("Vm/web-1"), "Vm/web-1");
        assert_eq!(quoted("app in (a, b)"), "'app in (a, b)'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
