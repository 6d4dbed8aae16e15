//! `sexton demo`: a tour of a few minutes on a store of its own. It types commands and shows what they say; whatever
//! happens, these commands do it.

mod stage;

use std::time::Duration;

use crate::ask;
use crate::failure::{Exit, Failure};
use crate::output::{Output, Paint};
use stage::Stage;

/// See it work: a tour on a temporary store
///
/// Everything happens in a temporary directory, which is removed at the end: the store, the documents of a small shop,
/// and a "cloud" of files that stand for real machines.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Wait for Enter before every command
    #[arg(long)]
    step: bool,
    /// Leave the directory there
    #[arg(long)]
    keep: bool,
}

/// So long a machine that is being wiped is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn run(args: Args, output: &Output) -> Result<Exit, Failure> {
    let stage = Stage::set()?;
    let tour = Tour { stage: &stage, output, step: args.step && ask::somebody_is_there() };
    let result = tour.play().await;
    if args.keep {
        output.talk(&format!("everything is in {}", stage.dir().display()));
        stage.keep();
    }
    result.map(|()| Exit::Done)
}

struct Tour<'a> {
    stage: &'a Stage,
    output: &'a Output,
    step: bool,
}

impl Tour<'_> {
    async fn play(&self) -> Result<(), Failure> {
        self.say("A shop: a network, a volume, two machines. Each real thing is a file in cloud/.")?;
        self.typed(&["apply", "-f", "shop"]).await?;
        self.cloud()?;
        self.say("Somebody removes a machine from the documents. What would happen?")?;
        self.stage.remove("shop/5-vm-web-2.yaml")?;
        self.typed(&["plan", "-f", "shop"]).await?;
        self.say("Exactly that is done: the machine is swept, and nothing else.")?;
        self.typed(&["apply", "-f", "shop", "--yes"]).await?;
        self.cloud()?;
        self.say("Who depends on whom, and what keeps a machine alive?")?;
        self.typed(&["graph", "-o", "mermaid"]).await?;
        self.typed(&["why", "Vm/web-1"]).await?;
        self.say("Now all of it is to go. Wiping the volume takes a while, and in the middle of it we pull the plug.")?;
        self.killed(&["destroy", "shop", "--yes"]).await?;
        self.say("Half a destruction. What does it wait for?")?;
        self.typed(&["why", "Volume/data"]).await?;
        self.cloud()?;
        self.say("It goes on where it was: no step is made up, none is done under another name.")?;
        self.typed(&["resume"]).await?;
        self.typed(&["destroy", "shop", "--yes"]).await?;
        self.cloud()?;
        self.say("And what remains is the memory of it.")?;
        self.typed(&["get", "tombstones"]).await?;
        self.say("That was it. Your own:  sexton apply -f DIRECTORY")
    }

    fn say(&self, text: &str) -> Result<(), Failure> {
        self.output.line("")?;
        let style = self.output.data_style();
        self.output.line(&style.paint(&format!("# {text}"), Paint::Faint))
    }

    async fn announce(&self, arguments: &[&str]) -> Result<(), Failure> {
        let style = self.output.data_style();
        self.output.line(&style.paint(&format!("$ sexton {}", arguments.join(" ")), Paint::Good))?;
        if self.step {
            ask::answer("", self.output).await?;
        }
        Ok(())
    }

    /// Types a command and shows what it says.
    async fn typed(&self, arguments: &[&str]) -> Result<(), Failure> {
        self.announce(arguments).await?;
        let said = self.stage.run(arguments)?;
        self.output.data(&said)
    }

    /// Types a command and kills it as soon as the volume is being wiped.
    async fn killed(&self, arguments: &[&str]) -> Result<(), Failure> {
        self.announce(arguments).await?;
        let said = self.stage.kill_when(arguments, "cloud/volume-data.wiping", PATIENCE).await?;
        self.output.data(&said)?;
        self.output.line("Killed")
    }

    fn cloud(&self) -> Result<(), Failure> {
        let style = self.output.data_style();
        self.output.line(&style.paint("$ ls cloud", Paint::Good))?;
        self.output.line(&self.stage.cloud()?.join("  "))
    }
}
