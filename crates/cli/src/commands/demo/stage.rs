//! Where the tour is played: a temporary directory with the documents of the shop and its cloud, and this very program.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::settings::{DATA, SERVER_VARIABLE};

/// The documents, by their names. They are those of `examples/shop`.
const DOCUMENTS: [(&str, &str); 7] = [
    ("sexton.yaml", include_str!("../../../../../examples/shop/sexton.yaml")),
    ("1-kinds.yaml", include_str!("../../../../../examples/shop/1-kinds.yaml")),
    ("2-classes.yaml", include_str!("../../../../../examples/shop/2-classes.yaml")),
    ("3-network.yaml", include_str!("../../../../../examples/shop/3-network.yaml")),
    ("4-volume.yaml", include_str!("../../../../../examples/shop/4-volume.yaml")),
    ("5-vm-web-1.yaml", include_str!("../../../../../examples/shop/5-vm-web-1.yaml")),
    ("5-vm-web-2.yaml", include_str!("../../../../../examples/shop/5-vm-web-2.yaml")),
];
/// Where the documents have their cloud.
const CLOUD: &str = "/tmp/sexton-shop";
/// What is in it at the beginning.
const THINGS: [&str; 3] = ["vm-web-1", "vm-web-2", "volume-data"];

/// The stage.
pub(super) struct Stage {
    dir: PathBuf,
    kept: std::cell::Cell<bool>,
}

fn cannot(what: &str, path: &Path) -> impl Fn(std::io::Error) -> Failure {
    let what = format!("cannot {what} {}", path.display());
    move |error| Failure::new(format!("{what}: {error}"))
}

impl Stage {
    /// A directory with everything in it.
    pub(super) fn set() -> Result<Stage, Failure> {
        let dir = std::env::temp_dir().join(format!("sexton-demo-{}", uuid::Uuid::new_v4().simple()));
        let stage = Stage { dir: dir.clone(), kept: std::cell::Cell::new(false) };
        for folder in ["shop", "cloud"] {
            std::fs::create_dir_all(dir.join(folder)).map_err(cannot("make", &dir))?;
        }
        let cloud = dir.join("cloud").display().to_string();
        // Wiping takes a while here, so that there is a middle of it.
        let wipe = r#"elif touch "/tmp/sexton-shop/$volume.wiping" && sleep 2 && rm -f "/tmp/sexton-shop/$volume.wiping" && rm"#;
        for (name, text) in DOCUMENTS {
            let text = text.replace("elif rm", wipe).replace(CLOUD, &cloud);
            let file = dir.join("shop").join(name);
            std::fs::write(&file, text).map_err(cannot("write", &file))?;
        }
        for thing in THINGS {
            let file = dir.join("cloud").join(thing);
            std::fs::write(&file, "").map_err(cannot("write", &file))?;
        }
        Ok(stage)
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Leaves it there at the end.
    pub(super) fn keep(&self) {
        self.kept.set(true);
    }

    pub(super) fn remove(&self, file: &str) -> Result<(), Failure> {
        let file = self.dir.join(file);
        std::fs::remove_file(&file).map_err(cannot("remove", &file))
    }

    /// What is in the cloud.
    pub(super) fn cloud(&self) -> Result<Vec<String>, Failure> {
        let cloud = self.dir.join("cloud");
        let entries = std::fs::read_dir(&cloud).map_err(cannot("look into", &cloud))?;
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn start(&self, arguments: &[&str]) -> Result<Child, Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::new(format!("who am I: {error}")))?;
        let mut command = Command::new(program);
        // Typed here, the data directory is meant, whatever the environment or the name of the program says: the tour
        // destroys a module `shop`, which a server or a cluster may have, too.
        command.args(["--data", DATA]).args(arguments).current_dir(&self.dir);
        command.env_remove(SERVER_VARIABLE).env_remove("SEXTON_TOKEN");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| Failure::new(format!("cannot start sexton: {error}")))
    }

    /// Runs a command to its end. What it says to a person comes first, as on a terminal.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        said(self.start(arguments)?)
    }

    /// Runs a command and kills it, with all that it can do about it, which is nothing, once a file is there.
    pub(super) async fn kill_when(
        &self,
        arguments: &[&str],
        file: &str,
        patience: Duration,
    ) -> Result<String, Failure> {
        let mut child = self.start(arguments)?;
        let (file, since) = (self.dir.join(file), Instant::now());
        // A hook writes the file, and there is no event for that.
        while !file.exists() && since.elapsed() < patience {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        child.kill().map_err(|error| Failure::new(format!("cannot end sexton: {error}")))?;
        said(child)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.kept.get() {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

fn said(child: Child) -> Result<String, Failure> {
    let output = child.wait_with_output();
    let output = output.map_err(|error| Failure::new(format!("cannot hear sexton: {error}")))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(text(&output.stderr) + &text(&output.stdout))
}
