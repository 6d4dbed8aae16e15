//! temporary
mod commands {
    pub mod serve;
}
use clap::Parser;
#[derive(Parser)]
struct Cli {
    #[arg(long, default_value = ".sexton")]
    data: std::path::PathBuf,
    #[command(subcommand)]
    command: Command,
}
#[derive(clap::Subcommand)]
enum Command {
    Serve(commands::serve::Args),
}
#[tokio::main]
async fn main() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let cli = Cli::parse();
    let Command::Serve(args) = cli.command;
    if let Err(e) = commands::serve::run(&cli.data, &args, |t| println!("{t}")).await {
        eprintln!("{e}");
        std::process::exit(1)
    }
}
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
