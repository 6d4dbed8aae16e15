//! Which variables a class may not set for a program that an operator allowed: those that choose what else is loaded,
//! run or connected to. The operator allowed one program; with such a variable the class would choose another.
//!
//! There is no complete list of them, so endings and beginnings are refused that such variables have. That refuses
//! some that are harmless: a program can set those itself.

/// Variables that are known by their whole name. All are compared in capitals.
const NAMES: [&str; 20] = [
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CURLRC",
    "DISPLAY",
    "ENV",
    "HOSTALIASES",
    "IFS",
    "INPUTRC",
    "KUBERC",
    "LOCALDOMAIN",
    "MAILRC",
    "NETRC",
    "PHPRC",
    "PS4",
    "TERMCAP",
    "TERMINFO",
    "VISUAL",
    "WGETRC",
    "ZDOTDIR",
];
/// How variables of loaders, interpreters, and tools begin that can be told to run something.
const BEGINNINGS: [&str; 36] = [
    "ANSIBLE_",
    "AWK",
    "BASH_FUNC_",
    "BUNDLE_",
    "CARGO_",
    "COMPLUS_",
    "CORECLR_",
    "COR_",
    "DOCKER_",
    "DOTNET_",
    "DYLD_",
    "GEM_",
    "GIT_",
    "GLIBC_",
    "GOOGLE_EXTERNAL_",
    "GTK_",
    "HELM_",
    "JAVA_",
    "JDK_",
    "LD_",
    "LESS",
    "LUA_",
    "MAKE",
    "NODE_",
    "NPM_",
    "OPENSSL_",
    "PERL",
    "PYTHON",
    "QT_",
    "RUBY",
    "RUSTC",
    "SEXTON_ALLOW_",
    "SSH_",
    "SSL_",
    "SUDO_",
    "XDG_",
];
/// How variables end that name where something is loaded from, or with which options something is run.
const ENDINGS: [&str; 29] = [
    "ASKPASS",
    "CONFIG",
    "CREDENTIALS",
    "EDITOR",
    "FLAGS",
    "HOME",
    "INIT",
    "LIBRARIES",
    "OPT",
    "OPTIONS",
    "OPTS",
    "PAGER",
    "PATH",
    "PRELOAD",
    "PROFILER",
    "PROXY",
    "SHELL",
    "_CMD",
    "_COMMAND",
    "_CONF",
    "_CONFIG_DIR",
    "_CONFIG_FILE",
    "_CREDENTIALS_FILE",
    "_HOOKS",
    "_MODULES",
    "_PLUGINS",
    "_RC",
    "_TUNABLES",
    "_WRAPPER",
];

/// Whether a variable may choose what else a program loads, runs or connects to. Names that no shell has as they are
/// can be functions, and count as such.
pub(super) fn steers(variable: &str) -> bool {
    let name = variable.to_ascii_uppercase();
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    !plain
        || NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::steers;

    /// Each is documented to make a common program load, run or connect to something that it names.
    #[test]
    fn what_steers_a_program_is_refused() {
        for name in [
            "AWS_CONFIG_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
            "BASH_ENV",
            "BASH_FUNC_rm%%",
            "CLASSPATH",
            "CURL_HOME",
            "DOCKER_CONFIG",
            "DOTNET_STARTUP_HOOKS",
            "EDITOR",
            "ENV",
            "GIT_SSH",
            "GLIBC_TUNABLES",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "HOME",
            "HTTPS_PROXY",
            "KUBECONFIG",
            "LD_PRELOAD",
            "LESSOPEN",
            "LUA_INIT",
            "LUA_INIT_5_4",
            "MAKEFLAGS",
            "NODE_OPTIONS",
            "OPENSSL_CONF",
            "PAGER",
            "PATH",
            "PERL5OPT",
            "PHPRC",
            "PYTHONPATH",
            "RUBYOPT",
            "SEXTON_ALLOW_EXEC",
            "SHELL",
            "SSH_ASKPASS",
            "SSL_CERT_FILE",
            "WGETRC",
            "XDG_CONFIG_HOME",
            "_JAVA_OPTIONS",
            "https_proxy",
        ] {
            assert!(steers(name), "{name}");
        }
    }

    #[test]
    fn words_of_the_class_are_not() {
        for name in
            ["ACCOUNT", "AWS_REGION", "ENVIRONMENT", "LC_ALL", "PATHS", "REGION", "TZ", "ZONE", "region_2"]
        {
            assert!(!steers(name), "{name}");
        }
    }
}
