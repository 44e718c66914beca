//! The `regreen` binary: runs the library and exits with the code it returns.

fn main() -> std::process::ExitCode {
    regreen::run(std::env::args_os())
}
