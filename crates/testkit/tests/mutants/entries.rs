//! `mutants.txt`: what is changed where, and which test has to notice it.

use std::path::Path;

/// One planted bug.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mutant {
    pub(crate) name: String,
    /// The file, from the root of the repository.
    pub(crate) file: String,
    /// The package of the test.
    pub(crate) package: String,
    /// `lib`, or the name of a test target of the package.
    pub(crate) target: String,
    /// The test with its path in the target.
    pub(crate) test: String,
    /// Whether `.ci/run` plants it.
    pub(crate) quick: bool,
    /// The text that is replaced.
    pub(crate) is: String,
    /// What it becomes.
    pub(crate) becomes: String,
}

impl Mutant {
    /// Whether `SEXTON_MUTANTS` means it.
    pub(crate) fn is_chosen(&self, chosen: &str) -> bool {
        match chosen {
            "all" => true,
            "quick" => self.quick,
            part => part.split(',').any(|part| self.name.contains(part) || self.file.contains(part)),
        }
    }

    /// The arguments of cargo that choose the target.
    pub(crate) fn target(&self) -> Vec<String> {
        match self.target.as_str() {
            "lib" => vec!["--lib".to_owned()],
            name => vec!["--test".to_owned(), name.to_owned()],
        }
    }

    /// Whether a source of the package has a function that is called like the test.
    pub(crate) fn has_test(&self, root: &Path) -> bool {
        let package = root.join("crates").join(self.package.trim_start_matches("sexton-"));
        let place = match self.target.as_str() {
            "lib" => package.join("src"),
            _ => package.join("tests"),
        };
        let function = format!("fn {}(", self.test.rsplit("::").next().unwrap_or_default());
        let mut open = vec![place];
        while let Some(path) = open.pop() {
            if let Ok(entries) = std::fs::read_dir(&path) {
                open.extend(entries.map(|entry| entry.unwrap().path()));
            } else if std::fs::read_to_string(&path).is_ok_and(|source| source.contains(&function)) {
                return true;
            }
        }
        false
    }
}

/// All entries.
pub(crate) fn read() -> Vec<Mutant> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("mutants.txt")).unwrap();
    parse(&text)
}

/// Entries begin with `name:`; the two texts are between lines with `<<<`, `===` and `>>>`, without their last line end.
fn parse(text: &str) -> Vec<Mutant> {
    let mut all: Vec<Mutant> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line == "<<<" {
            let is: Vec<&str> = lines.by_ref().take_while(|line| *line != "===").collect();
            let becomes: Vec<&str> = lines.by_ref().take_while(|line| *line != ">>>").collect();
            let mutant = all.last_mut().unwrap();
            (mutant.is, mutant.becomes) = (is.join("\n"), becomes.join("\n"));
            continue;
        }
        let (field, value) = line.split_once(": ").unwrap_or_else(|| panic!("mutants.txt: {line:?}"));
        let value = value.trim().to_owned();
        if field == "name" {
            all.push(Mutant { name: value, ..Mutant::default() });
            continue;
        }
        let mutant = all.last_mut().unwrap();
        match field {
            "file" => mutant.file = value,
            "test" => {
                let words: Vec<&str> = value.split(' ').collect();
                let [package, target, test] = words[..] else { panic!("mutants.txt: {line:?}") };
                (mutant.package, mutant.target) = (package.to_owned(), target.to_owned());
                mutant.test = test.to_owned();
            }
            "quick" => mutant.quick = value == "yes",
            _ => panic!("mutants.txt: {line:?}"),
        }
    }
    all
}

#[test]
fn entries_are_read() {
    let text =
        "# words\nname: a\nfile: x.rs\ntest: sexton-model lib t::u\nquick: yes\n<<<\none\n two\n===\n>>>\n";
    let mutant = &parse(text)[0];
    assert_eq!((mutant.is.as_str(), mutant.becomes.as_str()), ("one\n two", ""));
    assert_eq!((mutant.target.as_str(), mutant.test.as_str()), ("lib", "t::u"));
    assert!(mutant.is_chosen("quick") && mutant.is_chosen("x.rs") && !mutant.is_chosen("b"));
}
