//! The flags of all commands, and what the environment says instead of them.

use std::path::PathBuf;

use clap::Args;
use sexton_client::connect::Credentials;

use crate::failure::Failure;

/// The usual data directory.
const DATA: &str = ".sexton";

/// The flags of all commands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Where and how")]
pub(crate) struct Settings {
    /// The directory of the embedded store
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "SEXTON_DATA",
        hide_env_values = true,
        default_value = DATA
    )]
    pub(crate) data: PathBuf,
    /// Use the server at this address instead
    #[arg(long, global = true, value_name = "URL", conflicts_with = "context")]
    pub(crate) server: Option<String>,
    /// Use the cluster of this kubeconfig context instead; the current context is only used by "kubectl sexton"
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The kubeconfig with the contexts, instead of those that KUBECONFIG names, or ~/.kube/config
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The namespace; "default" if the target does not say otherwise
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// A file with the token for --server; the variable SEXTON_TOKEN does as well
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A file with the certificates to trust for --server
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// No colours; they are never used when the output is not a terminal
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Tell on stderr what is done; twice for every request
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl Settings {
    /// The flags that lead to the same target and namespace, to be typed behind a command that is proposed.
    pub(crate) fn flags(&self) -> String {
        let namespace = self.namespace.as_ref().map(|namespace| format!(" -n {}", quoted(namespace)));
        format!("{}{}", namespace.unwrap_or_default(), self.target_flags())
    }

    /// What the target is called, before it is known whether it can be reached.
    pub(crate) fn target_name(&self) -> String {
        match (&self.server, &self.context) {
            (Some(url), _) => url.clone(),
            (None, Some(context)) => format!("context {context}"),
            (None, None) => format!("{} (embedded)", self.data.display()),
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

    /// Token and certificates for a server.
    pub(crate) fn credentials(&self) -> Result<Credentials, Failure> {
        let token = match &self.token_file {
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    Failure::new(format!("cannot read the token in {}: {error}", file.display()))
                })?;
                Some(text.trim().to_owned())
            }
            None => std::env::var("SEXTON_TOKEN").ok(),
        };
        let token = token.filter(|token| !token.is_empty());
        Ok(Credentials { token, authority: self.certificate_authority.clone() })
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
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
    fn words_are_quoted_when_a_shell_would_read_them() {
        assert_eq!(quoted("Vm/web-1"), "Vm/web-1");
        assert_eq!(quoted("app in (a, b)"), "'app in (a, b)'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
