//! Calls in Rust: an integration test in a copy of the checkout, where the called file counts the blocks
//! that run.

use std::fs;
use std::path::Path;

use crate::adapter::host::files;
use crate::code::block_counts::with_counts;
use crate::code::language::Language;
use crate::code::rust_crate::{self, module_path};
use crate::code::signature::{self, Callable};
use crate::effect::Call;

use super::{CALLS_FILE, CallProgram, CallSource, OUTPUT_LIMIT};
use crate::adapter::suite::candidate::copy_checkout;

/// The part of the program that is the same for all calls.
const DRIVER: &str = include_str!("../driver/observe_rust.rs.in");

pub fn write_program(
    source: &CallSource<'_>,
    calls: &[(usize, &Call)],
) -> Result<CallProgram, String> {
    let copy = source.scratch.join("crate");
    if !copy.is_dir() {
        copy_checkout(source.request.root, &copy).map_err(|error| error.to_string())?;
    }
    let file = source.request.file.as_str();
    let package = file.split_once("src/").map(|(package, _)| package).ok_or("it is in no crate")?;
    let below = |root: &Path, name: &str| root.join(package).join(name);
    let sources = (below(source.request.root, "src"), below(&copy, "src"));
    refresh(&sources.0, &sources.1, source.request.root.join(file).as_path());
    let read =
        |name: &str| fs::read_to_string(below(source.request.root, name)).unwrap_or_default();
    let (manifest, mut library) = (read("Cargo.toml"), read("src/lib.rs"));
    let called = file.strip_prefix(package).unwrap_or(file);
    let module = module_path(&manifest, &library, called).ok_or("its crate has no library")?;
    let (counted, blocks) = with_counts(source.text);
    if called == "src/lib.rs" {
        library.clone_from(&counted);
    }
    library.push_str(&counting_module(blocks.len()));
    let name = module.split("::").next().unwrap_or(&module);
    let is_declared = rust_crate::is_first_edition(&manifest);
    let declared = if is_declared { format!("extern crate {name};\n") } else { String::new() };
    let head = head_text(&module, &declared, &blocks);
    let first_line = head.lines().count() + 1;
    let callables = signature::callables(Language::Rust, source.text);
    let rows: String = calls
        .iter()
        .map(|(index, call)| format!("({index}, || {{ {} }}),\n", row(call, &callables)))
        .collect();
    let calls = below(&copy, &format!("tests/{CALLS_FILE}.rs"));
    let mut files = vec![(calls, format!("{head}{rows}];\n{DRIVER}"))];
    files.push((below(&copy, "src/lib.rs"), library));
    if called != "src/lib.rs" {
        files.push((copy.join(file), counted));
    }
    let manifest = below(&copy, "Cargo.toml").display().to_string();
    let cargo = |words: &[&str]| -> Vec<String> {
        let own = ["--test", CALLS_FILE, "--manifest-path", &manifest];
        ["cargo", "test", "-q"]
            .iter()
            .chain(&own)
            .chain(words)
            .map(|one| (*one).to_owned())
            .collect()
    };
    let build = vec![cargo(&["--no-run", "--message-format=short"])];
    let run = cargo(&["--", "zz_regreen_observe"]);
    let directory = copy.join(package);
    Ok(CallProgram { files, directory, build, run, first_line })
}

/// The module of the library that counts.
fn counting_module(count: usize) -> String {
    format!(
        "\n#[doc(hidden)]\npub mod zz_regreen {{\n    extern crate core;\n    use self::core::sync::atomic::{{AtomicU32, Ordering}};\n    #[allow(clippy::declare_interior_mutable_const)]\n    const ZERO: AtomicU32 = AtomicU32::new(0);\n    pub static COUNTS: [AtomicU32; {count}] = [ZERO; {count}];\n    pub fn hit(block: usize) {{ COUNTS[block].fetch_add(1, Ordering::Relaxed); }}\n}}\n"
    )
}

/// The text before the calls, with the lines of each block that is counted.
fn head_text(module: &str, declared: &str, blocks: &[Vec<u32>]) -> String {
    let name = module.split("::").next().unwrap_or(module);
    format!(
        "#![allow(warnings)]\n{declared}use std::str::FromStr;\nuse {module}::*;\nuse {name}::*;\nuse {name}::zz_regreen as zz_subject;\nuse std::time::Duration;\nstatic ZZ_LINES: &[&[u32]] = &{blocks:?};\nstatic ZZ_CALLS: &[(usize, fn() -> ZzCall)] = &[\n",
    )
    .replace("[[", "[&[")
    .replace("], [", "], &[")
}

/// Brings the sources of the copy up to date, without touching those that are: Cargo goes by the time.
fn refresh(from: &Path, to: &Path, called: &Path) {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            refresh(&path, &target, called);
        } else if path != called && entry.file_name() != "lib.rs" {
            let read = |path: &Path| files::read(path, OUTPUT_LIMIT).ok().flatten();
            let text = read(&path);
            if text != read(&target) {
                files::write(&target, &text.unwrap_or_default()).unwrap_or_default();
            }
        }
    }
}

/// The statements that make a call and hand over what it gives.
fn row(call: &Call, callables: &[Callable]) -> String {
    let method = call.callee.rsplit(['.', ':']).next().unwrap_or_default();
    let named = || callables.iter().filter(|one| one.called_method() == method);
    let is_of_class = |one: &&Callable| {
        let class = one.class.as_ref();
        class.is_some_and(|class| call.callee.starts_with(class.name.as_str()))
    };
    let called = named().find(is_of_class).or(named().next());
    let result = called.and_then(|one| one.results.first()).map_or("", String::as_str);
    let mut before = String::new();
    let mut callee = call.callee.clone();
    if let Some((object, method)) = call.callee.rsplit_once('.').filter(|_| !call.setup.is_empty())
    {
        before = format!("let mut zz_object = {object}; ");
        for one in &call.setup {
            before.push_str(&format!("zz_object.{one}; "));
        }
        callee = format!("zz_object.{method}");
    }
    let made = format!("{callee}({})", call.arguments.join(", "));
    let shown = |value: &str| format!("(&&&&ZzShown(&{value})).zz_show()");
    let is_result = result.split('<').next().is_some_and(|head| head.ends_with("Result"));
    let row = if result.is_empty() {
        format!("{before}{made}; zz_value(\"\", \"none\")")
    } else if is_result {
        let (value, error) = (shown("value"), "(&&ZzShown(&error)).zz_fail()");
        format!(
            "{before}let zz = {made}; zz_debug(&zz); match zz {{ Ok(value) => {value}, Err(error) => {error} }}"
        )
    } else {
        format!("{before}match ({made}) {{ value => {} }}", shown("value"))
    };
    row.replace('\n', " ")
}
