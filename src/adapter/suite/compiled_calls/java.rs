//! Calls in Java: a program in the package of the called file, compiled with a version of the file that
//! counts. The project's own tool builds the rest in a copy of the checkout, and tells the class path.

use std::fs;
use std::path::{Path, PathBuf};

use crate::adapter::host::files;
use crate::code::java_packages::{
    BUILD_FILES, JUnit, all_standard_imports, imports_of, package_of,
};
use crate::code::language::Language;
use crate::code::signature::{self, Callable};
use crate::code::statement_counts::with_statement_counts;
use crate::effect::Call;

use super::{CALLS_FILE, CallProgram, CallSource, JVM_OPTIONS};
use crate::adapter::suite::candidate::{copy_checkout, refresh_copy};

/// The part of the program that is the same for all calls.
const DRIVER: &str = include_str!("../driver/observe_java.java");

/// The test that writes down the class path.
const PROBE: &str = "ZzRegreenPathTest";
const PROBE_TEXT: &str = include_str!("../driver/probe_java.java");

/// Language, country and time zone of each world.
const WORLDS: &[[&str; 3]] =
    &[["en", "US", "UTC"], ["fr", "FR", "Asia/Kathmandu"], ["de", "DE", "America/St_Johns"]];

pub fn write_program(
    source: &CallSource<'_>,
    calls: &[(usize, &Call)],
) -> Result<CallProgram, String> {
    let file = source.request.file.as_str();
    let (module, _) = file.split_once("src/main/").ok_or("it is not below `src/main`")?;
    let package = package_of(source.text);
    let place = ModulePlace {
        root: source.request.root,
        module,
        folder: &source.folder,
        scratch: &source.scratch,
    };
    let mut project = place.copy_project(&package)?;
    let counted = source.scratch.join("counted").join(source.request.file.file_name());
    let (counted_text, runs) = with_statement_counts(source.text, "ZzRegreenCounts.hit");
    let calls_file = source.scratch.join(format!("{CALLS_FILE}.java"));
    let head = head_text(source, &package);
    let first_line = head.lines().count() + 1;
    let callables = signature::callables(Language::Java, source.text);
    let rows: String = calls
        .iter()
        .map(|(index, call)| {
            format!("{{{index}, (ZzRegreenRow) zzCall -> {{ {} }}}},\n", row(call, &callables))
        })
        .collect();
    let program = format!("{head}{rows}}}; }}\n}}\n{DRIVER}{}", counting_class(&runs));
    let argv = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let path = format!("@{}", project.path_file.display());
    let sources = [&project.classes, &calls_file, &counted].map(|path| path.display().to_string());
    let options =
        ["-nowarn", "-Xlint:none", "-proc:none", "-encoding", "UTF-8", "-Xmaxerrs", "10000", "-d"];
    let mut build: Vec<Vec<String>> = project.build.into_iter().collect();
    let compiler = ["javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", &path];
    build.push([argv(&compiler), argv(&options), sources.to_vec()].concat());
    let world = usize::try_from(source.request.world.number).unwrap_or_default() % WORLDS.len();
    let names = ["user.language", "user.country", "user.timezone"];
    let world = WORLDS.get(world).into_iter().flatten().zip(names);
    let mut run = argv(&["java", &path, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]);
    run.extend(world.map(|(value, name)| format!("-D{name}={value}")));
    let dot = if package.is_empty() { "" } else { "." };
    run.push(format!("{package}{dot}ZzRegreenObserve"));
    project.files.extend([(calls_file, program), (counted, counted_text)]);
    Ok(CallProgram { files: project.files, directory: project.folder, build, run, first_line })
}

/// Where the class path of a module is written; its folder ends in `/`.
pub fn class_path_file(scratch: &Path, module: &str) -> PathBuf {
    scratch.join(format!("class-path-{}", module.replace('/', "-")))
}

/// A module of a project.
pub struct ModulePlace<'a> {
    /// The checkout.
    pub root: &'a Path,
    /// The folder of the module below it, with a `/` at its end.
    pub module: &'a str,
    /// The folder of the project, where its tool runs.
    pub folder: &'a Path,
    /// Where the copy and the class path are written.
    pub scratch: &'a Path,
}

/// The copy of a project that the calls are compiled against.
pub struct ProjectCopy {
    pub folder: PathBuf,
    /// Where the calls are compiled to.
    classes: PathBuf,
    pub path_file: PathBuf,
    /// What has to be written and run before this file exists.
    pub files: Vec<(PathBuf, String)>,
    pub build: Option<Vec<String>>,
}

impl ModulePlace<'_> {
    /// Brings the copy up to date; where something changed, everything is built again.
    pub fn copy_project(&self, package: &str) -> Result<ProjectCopy, String> {
        let failed = |error: std::io::Error| error.to_string();
        let Self { root, module, folder, scratch } = self;
        let copy = scratch.join("project");
        let path_file = class_path_file(scratch, module);
        let is_changed = if copy.is_dir() {
            refresh_copy(&root.join(module).join("src/main"), &copy.join(module).join("src/main"))
        } else {
            copy_checkout(root, &copy).map_err(|error| error.to_string())?;
            true
        };
        if is_changed {
            files::remove(&path_file).map_err(failed)?;
        }
        // Another file may have been called before.
        let classes = scratch.join("classes");
        files::remove_tree(&classes).map_err(failed)?;
        let folder = copy.join(folder.strip_prefix(root).unwrap_or(Path::new("")));
        let (mut files, mut build) = (Vec::new(), None);
        if !path_file.is_file() {
            let below = format!("{module}src/test/java/{}", package.replace('.', "/"));
            let probe = copy.join(below).join(format!("{PROBE}.java"));
            files.push((probe, self.probe_text(package, [&path_file, &classes])?));
            build = Some(build_command(&folder));
        }
        Ok(ProjectCopy { folder, classes, path_file, files, build })
    }

    /// A test that writes `java` and `javac` options with the class path, and its own options.
    fn probe_text(
        &self,
        package: &str,
        [path_file, classes]: [&PathBuf; 2],
    ) -> Result<String, String> {
        let folders = Path::new(self.module).ancestors().map(|folder| self.root.join(folder));
        let found =
            folders.flat_map(|folder| BUILD_FILES.iter().map(move |name| folder.join(name)));
        let texts: String = found.filter_map(|path| fs::read_to_string(path).ok()).collect();
        let test = match JUnit::asked_by(&texts).ok_or("its project has no JUnit")? {
            JUnit::Jupiter => "org.junit.jupiter.api.Test",
            JUnit::Four | JUnit::Early => "org.junit.Test",
        };
        let package =
            if package.is_empty() { String::new() } else { format!("package {package};\n") };
        let text = |path: &Path| format!("{:?}", path.display().to_string());
        let filled =
            PROBE_TEXT.replace("TEST\n", &format!("{test}\n")).replace("CLASSES", &text(classes));
        let filled = filled.replace("PATH_FILE", &text(path_file));
        Ok(package + &filled.replace("OPTIONS_FILE", &text(&path_file.with_file_name(JVM_OPTIONS))))
    }
}

/// The command by which the project's own tool compiles everything and runs the probe.
fn build_command(folder: &Path) -> Vec<String> {
    let has = |name: &str| folder.join(name).is_file();
    let words: Vec<String> = if has("pom.xml") {
        let program = if has("mvnw") { "./mvnw" } else { "mvn" };
        let options = "-B test -Djacoco.skip -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false -Dcheckstyle.skip -Drat.skip -Denforcer.skip";
        let test = format!("-Dtest={PROBE}");
        [program].into_iter().chain(options.split(' ')).map(str::to_owned).chain([test]).collect()
    } else {
        let program = if has("gradlew") { "./gradlew" } else { "gradle" };
        [program, "test", "--continue", "--tests", &format!("*{PROBE}")].map(str::to_owned).to_vec()
    };
    words
}

/// The text before the calls.
fn head_text(source: &CallSource<'_>, package: &str) -> String {
    let declared = if package.is_empty() { String::new() } else { format!("package {package};\n") };
    let imports = imports_of(source.text).join("\n");
    let class = source.request.file.stem();
    let resource = [package.replace('.', "/"), format!("{class}.class")];
    let resource: Vec<&str> =
        resource.iter().map(String::as_str).filter(|one| !one.is_empty()).collect();
    format!(
        "{declared}{imports}\n{}final class ZzRegreenRows {{\nstatic final String PACKAGE = {package:?};\nstatic final String RESOURCE = {:?};\nstatic Object[][] rows() {{ return new Object[][] {{\n",
        all_standard_imports(),
        resource.join("/"),
    )
}

/// The class that the called file counts with.
fn counting_class(runs: &[Vec<u32>]) -> String {
    let lines: Vec<String> = runs
        .iter()
        .map(|lines| {
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            format!("{{{}}}", lines.join(","))
        })
        .collect();
    format!(
        "\nfinal class ZzRegreenCounts {{\n    static final int[] COUNTS = new int[{}];\n    static final int[][] LINES = {{{}}};\n    static void hit(int run) {{ COUNTS[run]++; }}\n}}\n",
        runs.len(),
        lines.join(",\n")
    )
}

/// The statements that make a call and hand over what it gives.
fn row(call: &Call, callables: &[Callable]) -> String {
    let mut statements = Vec::new();
    let mut callee = call.callee.clone();
    let called = called_by(call, callables);
    let is_static = called.is_none_or(|one| one.class.as_ref().is_none_or(|class| class.is_static));
    if let Some((object, method)) = call.callee.rsplit_once('.').filter(|_| !is_static) {
        statements.push(format!("zzCall.isMaking = true; var zzObject = zzCall.made({object});"));
        let made = called.and_then(|one| one.class.as_ref()?.construction.as_ref());
        let is_fluent = |step: &str| made.is_some_and(|made| made.is_fluent(step));
        statements.extend(call.setup.iter().map(|before| {
            let kept = if is_fluent(before) { "zzObject = " } else { "" };
            format!("{kept}zzObject.{before};")
        }));
        callee = format!("zzObject.{method}");
    }
    let mut given = Vec::new();
    for (index, argument) in call.arguments.iter().enumerate() {
        if argument.starts_with("new ") && argument.ends_with(['}', ')']) {
            statements
                .push(format!("zzCall.isMaking = true; var zz{index} = {argument}; zzCall.isMaking = false; zzCall.gives({index}, zz{index});"));
            given.push(format!("zz{index}"));
        } else {
            // Its type cannot be told, so that it is made twice.
            if argument.starts_with(char::is_uppercase) && argument.ends_with(')') {
                statements
                    .push(format!("zzCall.isMaking = true; {argument}; zzCall.isMaking = false;"));
            }
            given.push(argument.clone());
        }
    }
    let made = format!("{callee}({})", given.join(", "));
    let result = called.and_then(|one| one.results.first()).map_or("", String::as_str);
    let is_void = called.is_some_and(|one| one.results.is_empty());
    let is_primitive = result.starts_with(char::is_lowercase) && !result.contains(['[', '.']);
    statements.push(if is_void {
        format!("{made}; zzCall.returnsNothing();")
    } else if is_primitive {
        format!("zzCall.returns({made});")
    } else {
        format!("zzCall.returns({made}, {result:?});")
    });
    statements.join(" ").replace('\n', " ")
}

/// What a call calls: of several with the same name, one that takes as many arguments.
fn called_by<'c>(call: &Call, callables: &'c [Callable]) -> Option<&'c Callable> {
    let (object, method) = call.callee.rsplit_once('.').unwrap_or(("", &call.callee));
    let made = call.callee.strip_prefix("new ").filter(|class| !class.contains('('));
    let (object, method) = match made {
        Some(class) => (class, class.rsplit('.').next().unwrap_or(class)),
        None => (object, method),
    };
    let class =
        |one: &Callable| one.class.as_ref().map_or("", |class| class.name.as_str()).to_owned();
    let named = || callables.iter().filter(|one| one.short_name() == method);
    let fits = |one: &&Callable| one.parameters.len() == call.arguments.len();
    let of_class = || named().filter(|one| object.contains(&class(one)));
    of_class()
        .find(fits)
        .or_else(|| of_class().next())
        .or_else(|| named().find(fits))
        .or_else(|| named().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_making_an_argument_throws_is_told_from_what_the_call_throws() {
        let text = "class A {\n  static int f(A other) {\n    return 1;\n  }\n}\n";
        let callables = signature::callables(Language::Java, text);
        let table = [
            (
                "new A(\"\")",
                "zzCall.isMaking = true; var zz0 = new A(\"\"); zzCall.isMaking = false; zzCall.gives(0, zz0); zzCall.returns(A.f(zz0));",
            ),
            (
                "A.of(\"\")",
                "zzCall.isMaking = true; A.of(\"\"); zzCall.isMaking = false; zzCall.returns(A.f(A.of(\"\")));",
            ),
            ("null", "zzCall.returns(A.f(null));"),
        ];
        for (argument, expected) in table {
            let call = Call::new("A.f", vec![argument.to_owned()]);
            assert_eq!(row(&call, &callables), expected);
        }
    }
}
