//! Builds a test with a planted bug and runs it. Only the failure of that very test counts as noticed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::copy::Copy;
use crate::entries::Mutant;

/// A test that runs for so long is ended, and nothing is said about the bug. The slowest takes a minute on an idle machine.
const MAX_TEST_TIME: Duration = Duration::from_secs(600);
/// How often it is looked whether a test has ended.
const POLL: Duration = Duration::from_millis(50);

/// What became of a planted bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The test turned red, each time.
    Caught,
    /// The test stayed green, each time.
    Survived,
    /// The test turned red sometimes: so often, of so many times.
    Sometimes(usize, usize),
    /// It cannot be said: it was not built, or not run to its end, or is red without the bug.
    NotJudged(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Caught => write!(f, "caught"),
            Verdict::Survived => write!(f, "SURVIVED"),
            Verdict::Sometimes(red, times) => write!(f, "CAUGHT IN {red} OF {times} RUNS ONLY"),
            Verdict::NotJudged(why) => write!(f, "NOT JUDGED: {why}"),
        }
    }
}

/// How one run of a test ended.
enum Ended {
    Green,
    Red,
    Neither(String),
}

/// Plants bugs in a copy.
pub(crate) struct Judge {
    copy: Copy,
    times: usize,
    /// Tests without a bug: whether they are green, and if not, why not.
    sound: BTreeMap<(String, String, String), Option<String>>,
}

impl Judge {
    pub(crate) fn new(copy: Copy) -> Judge {
        let times = std::env::var("SEXTON_MUTANTS_TIMES").ok().and_then(|times| times.parse().ok());
        Judge { copy, times: times.unwrap_or(1), sound: BTreeMap::new() }
    }

    /// Plants one, runs its test, and takes it back.
    pub(crate) fn judge(&mut self, mutant: &Mutant) -> Verdict {
        let test = (mutant.package.clone(), mutant.target.clone(), mutant.test.clone());
        if !self.sound.contains_key(&test) {
            let unsound = match self.build(mutant).map(|executable| self.run(mutant, &executable)) {
                Ok(Ended::Green) => None,
                Ok(Ended::Red) => Some("its test is red without it".to_owned()),
                Ok(Ended::Neither(why)) | Err(why) => Some(format!("without it: {why}")),
            };
            self.sound.insert(test.clone(), unsound);
        }
        if let Some(Some(why)) = self.sound.get(&test) {
            return Verdict::NotJudged(why.clone());
        }
        if !self.copy.plant(&mutant.file, &mutant.is, &mutant.becomes) {
            return Verdict::NotJudged("its text is not there exactly once".to_owned());
        }
        let verdict = self.planted(mutant);
        self.copy.restore(&mutant.file);
        verdict
    }

    fn planted(&self, mutant: &Mutant) -> Verdict {
        let executable = match self.build(mutant) {
            Ok(executable) => executable,
            Err(why) => return Verdict::NotJudged(why),
        };
        let mut red = 0;
        for _ in 0..self.times {
            match self.run(mutant, &executable) {
                Ended::Red => red += 1,
                Ended::Green => {}
                Ended::Neither(why) => return Verdict::NotJudged(why),
            }
        }
        match red {
            0 => Verdict::Survived,
            red if red == self.times => Verdict::Caught,
            red => Verdict::Sometimes(red, self.times),
        }
    }

    /// Builds the test, and says where it is.
    fn build(&self, mutant: &Mutant) -> Result<PathBuf, String> {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--no-run", "--message-format=json", "-p", &mutant.package])
            .args(mutant.target())
            .current_dir(&self.copy.place)
            .env("CARGO_TARGET_DIR", self.copy.target())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cargo cannot be run: {error}"))?;
        if !output.status.success() {
            return Err("it does not build".to_owned());
        }
        let lines = String::from_utf8_lossy(&output.stdout);
        let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let tests = messages.filter(|message| message["profile"]["test"] == true);
        let executable = tests.filter_map(|test| test["executable"].as_str().map(PathBuf::from)).next_back();
        executable.ok_or_else(|| "cargo names no test".to_owned())
    }

    /// Runs the test once.
    fn run(&self, mutant: &Mutant, executable: &Path) -> Ended {
        let words = self.copy.target().join("mutants.out");
        match self.run_into(mutant, executable, &words) {
            Ok(ended) => ended,
            Err(error) => Ended::Neither(format!("it cannot be run: {error}")),
        }
    }

    fn run_into(&self, mutant: &Mutant, executable: &Path, words: &Path) -> std::io::Result<Ended> {
        let package = self.copy.place.join("crates").join(mutant.package.trim_start_matches("sexton-"));
        let file = File::create(words)?;
        let mut child = Command::new(executable)
            .args(["--exact", &mutant.test])
            .current_dir(package)
            // A case that was found before would make a test look more certain than it is.
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
            .env_remove("SEXTON_MUTANTS")
            .stdin(Stdio::null())
            .stderr(file.try_clone()?)
            .stdout(file)
            .spawn()?;
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if began.elapsed() > MAX_TEST_TIME {
                child.kill()?;
                child.wait()?;
                return Ok(Ended::Neither("its test does not end".to_owned()));
            }
            std::thread::sleep(POLL);
        };
        let said = String::from_utf8_lossy(&std::fs::read(words)?).into_owned();
        Ok(match () {
            // It is the only one that was chosen.
            () if status.success() && said.contains("1 passed; 0 failed") => Ended::Green,
            () if !status.success() && said.contains("0 passed; 1 failed") => Ended::Red,
            () if status.success() => Ended::Neither("no such test was run".to_owned()),
            () => Ended::Neither(format!("its test ended without a verdict: {status}")),
        })
    }
}
