//! Calls in Go: a test of the called package that is in no folder, but in an overlay of the build, and
//! a version of the called file that counts the blocks that run.

use std::collections::BTreeMap;
use std::path::Path;

use crate::code::go_packages::{PackageErrors, import_lines, imported_packages, package_name};
use crate::code::language::Language;
use crate::code::signature::{self, Callable};
use crate::effect::Call;

use super::{CALLS_FILE, CallProgram, CallSource};

/// The part of the program that is the same for all calls.
const DRIVER: &str = include_str!("../driver/observe_go.go");

/// The variable with the counts of the called file.
const COUNTS: &str = "zzRegreenCover";

pub fn write_program(
    source: &CallSource<'_>,
    calls: &[(usize, &Call)],
) -> Result<CallProgram, String> {
    let package = package_name(source.text).ok_or("its package has no name")?;
    let path = |name: &str| source.scratch.join(name);
    let called = source.request.root.join(source.request.file.as_str());
    let folder = called.parent().unwrap_or(source.request.root);
    let (calls_name, counted) = (format!("{CALLS_FILE}_test.go"), path("counted.go"));
    let (program, driver, overlay) = (path("calls.test"), path("driver_test.go"), path("overlay"));
    let mut replaced: BTreeMap<String, String> = other_tests(folder);
    let mut replace = |from: &Path, to: &Path| {
        replaced.insert(from.display().to_string(), to.display().to_string());
    };
    replace(&folder.join("zz_regreen_driver_test.go"), &driver);
    replace(&folder.join(&calls_name), &path(&calls_name));
    replace(&called, &counted);
    let (head, rows) = calls_text(source.text, package, calls);
    let first_line = head.lines().count() + 1;
    let replacements = serde_json::json!({ "Replace": replaced }).to_string();
    let files = vec![
        (path(&calls_name), head + &rows),
        (
            driver,
            DRIVER.replacen("PACKAGE", package, 1) + &errors_text(source.text, folder, package),
        ),
        (overlay.clone(), replacements),
    ];
    let argv = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (counted, called) = (counted.display().to_string(), called.display().to_string());
    let (overlay, program) = (overlay.display().to_string(), program.display().to_string());
    let below = folder.strip_prefix(&source.folder).unwrap_or(folder);
    let below = format!("./{}", below.display());
    let variable = format!("-var={COUNTS}");
    let build = vec![
        argv(&["go", "tool", "cover", "-mode=count", &variable, "-o", &counted, &called]),
        argv(&["go", "test", "-c", "-gcflags=-e", "-overlay", &overlay, "-o", &program, &below]),
    ];
    let run = argv(&[&program, "-test.run=^TestZzRegreenObserve$", "-test.timeout=0"]);
    let directory = source.folder.clone();
    Ok(CallProgram { files, directory, build, run, first_line })
}

/// The package's own tests, which are left out: they may not compile, and may do something first.
fn other_tests(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path().display().to_string());
    paths.filter(|path| path.ends_with("_test.go")).map(|path| (path, String::new())).collect()
}

/// The variables with the errors of a package, and with the texts that it gives to errors.
fn errors_text(called: &str, folder: &Path, package: &str) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    // A name with an underscore may be that of a test, or of a file for one kind of machine.
    let sources = paths.filter(|path| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().contains('_'));
        stem == Some(false) && path.extension().is_some_and(|ending| ending == "go")
    });
    let texts = sources.filter_map(|path| std::fs::read_to_string(path).ok());
    let is_built = |text: &String| {
        package_name(text) == Some(package)
            && !["//go:build ", "// +build "].iter().any(|mark| text.contains(mark))
    };
    let mut found = PackageErrors::default();
    found.read(called);
    for text in texts.filter(is_built) {
        found.read(&text);
    }
    let variables = found.variables.iter().map(|name| format!("\t{{{name:?}, {name}}},\n"));
    let texts = found.texts.iter().map(|text| format!("\t{},\n", serde_json::json!(text)));
    format!(
        "\nvar zzRegreenErrors = []zzRegreenError{{\n{}}}\n\nvar zzRegreenTexts = []string{{\n{}}}\n",
        variables.collect::<String>(),
        texts.collect::<String>(),
    )
}

fn calls_text(text: &str, package: &str, calls: &[(usize, &Call)]) -> (String, String) {
    let callables = signature::callables(Language::Go, text);
    let mut rows = String::new();
    for (index, call) in calls {
        let results = results_of(&callables, call);
        rows.push_str(&format!(
            "\t{{{index}, func(zzCall *zzRegreenCall) {{ {} }}}},\n",
            row(call, results)
        ));
    }
    let rows = format!("{rows}}}\n");
    let known = imported_packages(text);
    let used = import_lines(&format!("package p\n\nvar x = []int{{\n{rows}"), &known);
    let head = format!("package {package}\n\n{used}var zzRegreenCalls = []zzRegreenNumbered{{\n");
    (head, rows)
}

fn results_of<'c>(callables: &'c [Callable], call: &Call) -> &'c [String] {
    let method = call.callee.rsplit('.').next().unwrap_or_default();
    let named: Vec<&Callable> = callables.iter().filter(|one| one.short_name() == method).collect();
    let is_of_class = |one: &&&Callable| {
        one.class.as_ref().is_some_and(|class| call.callee.contains(class.name.as_str()))
    };
    let found = named.iter().find(is_of_class).or(named.first());
    found.map(|one| one.results.as_slice()).unwrap_or_default()
}

/// The statements that make a call and hand over what it gives.
fn row(call: &Call, results: &[String]) -> String {
    let mut statements = Vec::new();
    let mut callee = call.callee.clone();
    if let Some((object, method)) =
        callee.clone().rsplit_once('.').filter(|_| !call.setup.is_empty())
    {
        statements.push(format!("zzObject := {object}"));
        statements.extend(call.setup.iter().map(|before| format!("zzObject.{before}")));
        callee = format!("zzObject.{method}");
    }
    let mut given = Vec::new();
    for (index, argument) in call.arguments.iter().enumerate() {
        if is_modifiable(argument) {
            statements.push(format!("zz{index} := {argument}"));
            statements.push(format!("zzCall.gives({index}, zz{index})"));
            given.push(format!("zz{index}"));
        } else {
            given.push(argument.clone());
        }
    }
    let made = format!("{callee}({})", given.join(", "));
    statements.push(match results {
        [] => format!("{made}; zzCall.returns()"),
        [.., last] if last == "error" => format!("zzCall.returnsError({made})"),
        _ => format!("zzCall.returns({made})"),
    });
    statements.join("; ").replace('\n', " ")
}

/// Whether a call may modify an argument: slices, maps and pointers.
fn is_modifiable(argument: &str) -> bool {
    argument.starts_with(['[', '&']) || argument.starts_with("map[")
}
