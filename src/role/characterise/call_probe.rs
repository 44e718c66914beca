//! Which mutants the calls of a test file detect, found without the test runner where calls can be
//! made on the texts of mutants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::language::Language;
use crate::code::mutate::{Depth, mutants};
use crate::domain::id::TestId;
use crate::effect::{Call, EffectError, Effects, ObserveRequest, Observer, ProbeRequest, World};
use crate::repair::list_bindings;

use super::GenerateRequest;
use super::observation::CALL;
use super::test_file::PinnedFile;

/// The mutants that each test of a file detects, by number, and how many were tried and left out.
pub struct DetectedMutants {
    pub by_test: BTreeMap<TestId, BTreeSet<usize>>,
    pub tried: usize,
    pub left_out: usize,
}

/// Makes the calls of a test file on mutants of its subject; `None` where that cannot be done.
pub async fn probe_mutants(
    test_file: &PinnedFile,
    request: &GenerateRequest<'_>,
    time: Duration,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Option<DetectedMutants>, EffectError> {
    let file = &test_file.subject;
    let bytes = fx.worktree.read(request.tree, file).await?.unwrap_or_default();
    let (Some(language), Ok(text)) = (Language::of(file), String::from_utf8(bytes)) else {
        return Ok(None);
    };
    if language == Language::Python {
        return Ok(None);
    }
    let found = mutants(language, &text, Depth::CHOICE, &|_| true);
    let texts: Vec<String> = found.iter().map(|one| one.apply(&text)).collect();
    let probed = probe_texts(test_file, &texts, request, time, observer, fx).await?;
    let Some(noticed) = probed else { return Ok(None) };
    let mut by_test: BTreeMap<TestId, BTreeSet<usize>> = BTreeMap::new();
    for (mutant, tests) in noticed.iter().enumerate() {
        for id in tests.iter().flatten() {
            by_test.entry(id.clone()).or_default().insert(mutant);
        }
    }
    let left_out = noticed.iter().filter(|tests| tests.is_none()).count();
    Ok(Some(DetectedMutants { by_test, tried: noticed.len(), left_out }))
}

/// For each text of the subject the tests whose calls notice its change, `None` where it was not tried;
/// nothing where calls cannot be made on texts.
pub async fn probe_texts(
    test_file: &PinnedFile,
    texts: &[String],
    request: &GenerateRequest<'_>,
    time: Duration,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Option<Vec<Option<Vec<TestId>>>>, EffectError> {
    let file = &test_file.subject;
    if Language::of(file).is_none_or(|language| language == Language::Python) {
        return Ok(None);
    }
    // An application of another file runs this one as it is.
    let is_elsewhere = |(_, place): &(String, String)| {
        place.split_once('#').is_some_and(|(path, _)| path.contains('.') && path != file.as_str())
    };
    let entries = test_file.functions.iter().filter_map(|one| one.callable.entry.as_ref());
    if entries.flat_map(|entry| &entry.imports).any(is_elsewhere) {
        return Ok(None);
    }
    let (ids, calls): (Vec<TestId>, Vec<Call>) = test_file.passing_calls().into_iter().unzip();
    let bindings = list_bindings(&test_file.functions, &test_file.imports);
    let observed = ObserveRequest {
        root: fx.worktree.root(),
        file,
        module: "",
        bindings: &bindings,
        files: &[],
        calls: &calls,
        world: World { number: 0 },
        limit: CALL,
    };
    let asked = ProbeRequest { observed, texts, jobs: request.jobs.max(1), time };
    let Some(noticed) = observer.probe(&asked).await? else { return Ok(None) };
    let tests = |calls: Vec<usize>| calls.into_iter().filter_map(|call| ids.get(call).cloned());
    Ok(Some(noticed.into_iter().map(|calls| Some(tests(calls?).collect())).collect()))
}
