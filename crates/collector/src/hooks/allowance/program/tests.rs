//! Programs by their real paths.

use std::os::unix::fs::symlink;

use super::*;

struct Dirs {
    dir: tempfile::TempDir,
}

impl Dirs {
    fn new() -> Dirs {
        let dir = tempfile::tempdir().unwrap();
        for path in ["hooks/below/vm-rm", "hooks/vm-rm", "hooks-of-others/vm-rm", "bin/sh", "bin/python3.12"]
        {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "#!/bin/true\n").unwrap();
        }
        Dirs { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        std::fs::canonicalize(self.dir.path()).unwrap().join(name)
    }

    fn ask(&self, allowed: &[&str], name: &str) -> Result<PathBuf, ProgramError> {
        self.ask_with(allowed, name, &[])
    }

    fn ask_with(&self, allowed: &[&str], name: &str, env: &[&str]) -> Result<PathBuf, ProgramError> {
        let exec = allowed.iter().map(|dir| self.path(dir)).collect();
        let env = env.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        program(&Allowance { exec, ..Allowance::default() }, name, self.dir.path(), &env)
    }

    #[track_caller]
    fn refused(&self, allowed: &[&str], name: &str) -> String {
        match self.ask(allowed, name) {
            Err(ProgramError::NotAllowed(refused)) => refused.0,
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn programs_inside_of_named_directories_are_run() {
    let dirs = Dirs::new();
    for name in ["hooks/vm-rm", "hooks/below/vm-rm", "hooks/below/../vm-rm", "./hooks/vm-rm"] {
        let real = dirs.ask(&["hooks"], name).unwrap();
        assert_eq!(real, std::fs::canonicalize(dirs.path(name)).unwrap());
    }
    assert!(dirs.ask(&["bin", "hooks"], &dirs.path("hooks/vm-rm").display().to_string()).is_ok());
    // A directory may be a link to the current release.
    symlink(dirs.path("hooks"), dirs.path("current")).unwrap();
    assert!(dirs.ask(&["current"], "current/vm-rm").is_ok() && dirs.ask(&["current"], "hooks/vm-rm").is_ok());
}

#[test]
fn links_and_dots_lead_nowhere_else() {
    let dirs = Dirs::new();
    symlink("/bin/sh", dirs.path("hooks/linked")).unwrap();
    symlink("/bin", dirs.path("hooks/system")).unwrap();
    for name in
        ["hooks/linked", "hooks/system/sh", "hooks/../bin/sh", "hooks-of-others/vm-rm", "/bin/sh", "sh"]
    {
        assert!(dirs.refused(&["hooks"], name).contains("may not be run"), "{name}");
    }
    assert!(dirs.refused(&[], "hooks/vm-rm").contains("may not be run"));
    // Whether a file is there is only told where it could be run.
    assert!(matches!(dirs.ask(&["hooks"], "hooks/none"), Err(ProgramError::NotThere(_))));
    assert!(dirs.refused(&["hooks"], "bin/none").contains("may not be run"));
}

#[test]
fn the_flag_is_named_and_never_one_for_all_programs() {
    let dirs = Dirs::new();
    let refused = dirs.refused(&[], "hooks/vm-rm");
    assert!(refused.ends_with(&format!("add --allow-exec {}", dirs.path("hooks").display())), "{refused}");
    for name in
        ["/bin/sh", "sh", "bin/sh", "/usr/bin/env", "bin/python3.12", "/vm-rm", "/proc/self/cwd/vm-rm"]
    {
        let refused = dirs.refused(&[], name);
        assert!(refused.ends_with("add --allow-exec /etc/sexton/hooks"), "{name}: {refused}");
    }
    assert!(dirs.refused(&[], "nothing-like-it").contains("not among the programs"));
    // All users could put programs there.
    let open = dirs.path("hooks");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(dirs.refused(&[], "hooks/vm-rm").ends_with("add --allow-exec /etc/sexton/hooks"));
    assert!(allowed_dir(&open).is_err() && allowed_dir(&dirs.path("hooks/vm-rm")).is_err());
    assert!(allowed_dir(&dirs.path("none")).is_err() && allowed_dir(&dirs.path("bin")).is_ok());
    let odd = dirs.refused(&[], "/x; --allow-exec/\u{1b}[2J\n/vm-rm");
    assert!(
        odd.ends_with("add --allow-exec /etc/sexton/hooks") && !odd.contains(['\u{1b}', '\n']),
        "{odd:?}"
    );
    assert!(dirs.refused(&[], &format!("/{}/x", "long/".repeat(900))).len() < 1000);
}

/// The operator allows a directory in which a file, or a directory below it, is writable for all: another user would
/// decide what the server runs.
#[test]
fn what_all_users_may_write_is_not_run() {
    let dirs = Dirs::new();
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(dirs.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (open, mode, program) in [
        ("hooks/vm-rm", 0o777, "hooks/vm-rm"),
        ("hooks/below", 0o1777, "hooks/below/vm-rm"),
        ("hooks", 0o777, "hooks/below/vm-rm"),
    ] {
        set(open, mode);
        let (refused, path) = (dirs.refused(&["hooks"], program), dirs.path(open));
        assert!(refused.ends_with(&format!("chmod o-w {}", path.display())), "{refused}");
        // A directory further down is allowed by itself.
        let narrow = dirs.ask(&["hooks", "hooks/below"], "hooks/below/vm-rm");
        assert_eq!(narrow.is_ok(), open != "hooks/below", "{open}");
        set(open, 0o755);
        assert!(dirs.ask(&["hooks"], program).is_ok());
    }
}

/// A directory above an allowed one matters as much: the right to rename in it is the right to replace the allowed
/// one. Unless only the owner of a file may rename it, as in `/tmp`.
#[test]
fn a_directory_that_all_users_may_replace_is_not_allowed() {
    let dirs = Dirs::new();
    symlink(dirs.path("bin"), dirs.path("hooks/linked")).unwrap();
    symlink(dirs.path("hooks/below"), dirs.path("bin/current")).unwrap();
    for (mode, allowed) in [(0o777, false), (0o1777, true), (0o775, true)] {
        std::fs::set_permissions(dirs.path("hooks"), std::fs::Permissions::from_mode(mode)).unwrap();
        for dir in ["hooks/below", "hooks/linked", "bin/current"] {
            assert_eq!(allowed_dir(&dirs.path(dir)).is_ok(), allowed, "{dir} {mode:o}");
        }
    }
}

#[test]
fn variables_do_not_add_programs() {
    let dirs = Dirs::new();
    for bad in
        ["LD_PRELOAD", "PATH", "BASH_ENV", "ENV", "PYTHONPATH", "PERL5OPT", "BASH_FUNC_rm%%", "GIT_SSH"]
    {
        match dirs.ask_with(&["hooks"], "hooks/vm-rm", &["REGION", bad]) {
            Err(ProgramError::NotAllowed(refused)) => assert!(refused.0.contains(bad), "{refused}"),
            other => panic!("{bad}: {other:?}"),
        }
    }
    assert!(
        dirs.ask_with(&["hooks"], "hooks/vm-rm", &["REGION", "ENVIRONMENT", "PATHS", "region_2"]).is_ok()
    );
}
