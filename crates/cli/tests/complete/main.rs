//! What bash, zsh and fish complete, each asked by itself.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "../serve/process.rs"]
mod process;
mod shells;

use std::time::{Duration, Instant};

use common::{Play, SHOP};
use process::Server;
use shells::Shell;

/// A target with objects and a module.
fn shop() -> Play {
    let play = Play::new();
    play.put(SHOP);
    play.map("ab", &[], "");
    play.file("mod/sexton.yaml", "manager: shop\n");
    play.file("mod/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    assert_eq!(play.run("apply -f mod").code, 0);
    play
}

#[test]
fn shells_complete_what_the_target_has() {
    let play = shop();
    for shell in Shell::present() {
        for (line, expected) in [
            ("sexton wh", &["why"][..]),
            ("sexton plan d", &["delete"]),
            ("sexton get confi", &["configmaps"]),
            ("sexton get cm ", &["a", "ab", "m"]),
            ("sexton get cm/a", &["cm/a", "cm/ab"]),
            ("sexton why configm", &["configmaps"]),
            ("sexton why cm a", &["a", "ab"]),
            ("sexton why configmaps/a", &["configmaps/a", "configmaps/ab"]),
            ("sexton why cm/default/a", &["cm/default/a", "cm/default/ab"]),
            ("sexton force cm a", &["a", "ab"]),
            ("sexton force cm/m", &["cm/m"]),
            ("sexton graph cm a", &["a", "ab"]),
            ("sexton subscribe cm/a deployments ", &["web"]),
            ("sexton destroy ", &["shop"]),
            ("sexton transfer cm/a --to s", &["shop"]),
            ("sexton delete cm --pol", &["--policy"]),
            ("sexton graph -o sv", &["svg"]),
            ("sexton get cm -n defau", &["default"]),
            ("sexton complet", &["completions"]),
        ] {
            assert_eq!(shell.offers(&play, line, &[]), expected, "{shell:?}: {line}");
        }
    }
    // Where the program knows no word, zsh and fish offer files.
    for (line, expected) in [
        ("sexton graph --output=sv", &["svg"][..]),
        ("sexton get cm -n nowhere ", &[]),
        ("sexton get nonsense ", &[]),
        ("sexton put -f ", &[]),
        ("sexton why cm a ", &[]),
    ] {
        assert_eq!(Shell::Bash.offers(&play, line, &[]), expected, "{line}");
    }
    assert!(!play.path().join("elsewhere").exists());
    assert_eq!(Shell::Bash.offers(&play, "sexton get --data elsewhere cm ", &[]), [""; 0]);
    assert!(!play.path().join("elsewhere").exists(), "asking makes no store");
}

/// The target is the one that the command would have: the variable's, unless another was typed.
#[test]
fn it_is_the_target_of_the_command() {
    let (play, served) = (shop(), Play::new());
    let server = Server::start(&served.path().join("data"), &[]);
    let there = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there}\n";
    assert_eq!(play.run_with(&format!("put -f - --server {}", server.url), there).code, 0);
    assert_eq!(play.run(&format!("kubeconfig -o config --name here --server {}", server.url)).code, 0);
    let config = play.path().join("config").display().to_string();
    let variables = [("SEXTON_SERVER", server.url.as_str())];
    for shell in Shell::present() {
        for (line, expected) in [
            ("sexton why cm ".to_owned(), &["there"][..]),
            ("sexton why cm/".to_owned(), &["cm/there"]),
            ("sexton why --data .sexton cm a".to_owned(), &["a", "ab"]),
            (format!("sexton force --context here --kubeconfig {config} cm "), &["there"]),
        ] {
            assert_eq!(shell.offers(&play, &line, &variables), expected, "{shell:?}: {line}");
        }
        let typed = format!("sexton graph --server {} cm ", server.url);
        assert_eq!(shell.offers(&play, &typed, &[]), ["there"], "{shell:?}");
        let of_config = "sexton why --context here cm ";
        assert_eq!(shell.offers(&play, of_config, &[("KUBECONFIG", &config)]), ["there"], "{shell:?}");
    }
}

/// A target that does not answer offers nothing, says nothing, and does not keep anybody waiting.
#[test]
fn a_silent_target_is_not_waited_for() {
    let play = Play::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let since = Instant::now();
    let url = format!("http://{}", silent.local_addr().unwrap());
    assert_eq!(Shell::Bash.offers(&play, &format!("sexton get --server {url} cm "), &[]), [""; 0]);
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert_eq!(Shell::Bash.offers(&play, "sexton get --server nonsense cm ", &[]), [""; 0]);
    assert_eq!(Shell::Bash.offers(&play, "sexton get --context nowhere cm ", &[]), [""; 0]);
}
