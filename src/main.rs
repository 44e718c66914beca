//! Process in, exit code out.

fn main() -> std::process::ExitCode {
    regreen::run(std::env::args_os())
}
