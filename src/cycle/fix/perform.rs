//! Performs the steps of the fix loop. Each step can be repeated after a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use futures::lock::Mutex;

use crate::domain::checkout_gap::{CheckoutGap, named_by, read_by};
use crate::domain::commit;
use crate::domain::event::Event;
use crate::domain::failure::{Signature, signature_of};
use crate::domain::fix_loop::{
    Attempt, FLAKY_RUNS, FixLoop, FixStep, FixStepOutcome, IterationResult, RegressionTrace,
};
use crate::domain::hindrance::Hindrance;
use crate::domain::id::{CommitId, RepoPath, TestId, TreeId};
use crate::domain::missing_package::{
    is_own, package_of, reason, reason_of_uninstalled, uninstalled_modules,
};
use crate::domain::proposal::EditSet;
use crate::domain::session::files::{PIPELINE, SUITE_LOG};
use crate::domain::test::{Results, Scope, Status, TestCase};
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::text::count;
use crate::effect::{CommitRequest, EffectError, Effects, RunError, RunRequest};
use crate::report::state_files;
use crate::role::{Fixer, Impact, StepInput, hindrances, minimise};

use crate::cycle::drive::{Perform, Work};
use crate::cycle::error::Failure;
use crate::cycle::session_files::{committed_files, read};

/// Performs the steps of the fix loop with the effects of a session.
pub struct Performer<'a> {
    pub fx: &'a Effects<'a>,
    /// The merge base: failures that occur there too are not introduced by the head under test.
    pub base: Option<CommitId>,
    /// What holds test code back, one sentence each.
    pub protection: Vec<String>,
    /// Folder of the session inside commits, such as `.workflow/active/WFS-test-main`.
    pub state_prefix: String,
    /// Finds and vets edits.
    pub fixer: Fixer,
    /// Finds the tests that a change affects.
    pub impact: Mutex<Impact>,
    /// Failures compared with those without stand-in files, and the evidence that they read one.
    pub compared: Mutex<BTreeMap<(TestId, Signature), Option<String>>>,
}

impl Perform<FixLoop> for Performer<'_> {
    /// In the middle of the loop, a run without results is an outcome. At the baseline it is an
    /// error, because there is nothing to compare it with.
    fn perform<'s>(&'s mut self, state: &'s FixLoop) -> Work<'s, FixStepOutcome> {
        let this = &*self;
        Work::Step(match state.next {
            FixStep::Baseline => Box::pin(this.baseline(state)),
            FixStep::Recheck { round } => Box::pin(this.recheck(state, round)),
            FixStep::TestMergeBase => Box::pin(this.test_merge_base(state)),
            FixStep::Diagnose => Box::pin(this.diagnose_failures(state)),
            FixStep::Propose => Box::pin(this.propose_fix(state)),
            FixStep::Apply => Box::pin(this.apply(state)),
            FixStep::TestAffected => Box::pin(this.test_affected(state)),
            FixStep::TestFull => Box::pin(this.test_full(state)),
            FixStep::Keep => Box::pin(this.keep(state)),
            FixStep::ShowAttempt => Box::pin(this.show_attempt(state)),
            FixStep::Rollback => Box::pin(this.rollback(state)),
            FixStep::Restore => Box::pin(this.restore(state)),
            FixStep::Minimise => Box::pin(this.minimise(state)),
            FixStep::KeepSmaller => {
                Box::pin(this.commit(state, state.accepted_tree.clone(), commit::minimise(state)))
            }
            FixStep::Confirm => Box::pin(this.confirm(state)),
            FixStep::ConfirmFlaky { round } => Box::pin(this.confirm_flaky(state, round)),
            FixStep::RemoveState => Box::pin(this.remove_state(state)),
            FixStep::Finish => return Work::Rest,
        })
    }

    async fn document(&self, old: &FixLoop, new: &FixLoop) -> Result<(), Failure> {
        self.write_records(old, new).await
    }
}

impl Performer<'_> {
    fn announce(&self, state: &FixLoop, doing: String) {
        let iteration = Some(state.current_iteration).filter(|iteration| *iteration > 0);
        self.fx.screen.show(&Event::Step { iteration, doing });
    }

    /// Checks out the tree that belongs to this step, and runs tests on it.
    async fn run(&self, state: &FixLoop, scope: &Scope) -> Result<Results, Failure> {
        self.fx.worktree.checkout(state.tree_on_disk()).await?;
        self.run_in(self.fx.worktree.root(), state, scope).await
    }

    /// Runs tests in a checkout, and writes their results to the session's files.
    async fn run_in(
        &self,
        root: &Path,
        state: &FixLoop,
        scope: &Scope,
    ) -> Result<Results, Failure> {
        let mut results = self.fx.suite.run(&RunRequest::new(root, scope, SUITE_LOG)).await?;
        self.find_lacking(root, state, &mut results).await?;
        let form = state_files::test_results(&results, state);
        self.fx.store.write_json(".process/test-results.json", &form).await?;
        Ok(results)
    }

    /// Finds the failing tests that lack content of the checkout: their failures name it, or it is another
    /// one without the files that stand in for it.
    async fn find_lacking(
        &self,
        root: &Path,
        state: &FixLoop,
        results: &mut Results,
    ) -> Result<(), Failure> {
        let gaps = self.fx.worktree.gaps(self.fx.worktree.root());
        let directory = &self.fx.suite.facts().directory;
        results.lacking = named_by(results, &gaps, directory);
        if root != self.fx.worktree.root() || !gaps.iter().any(CheckoutGap::is_stood_in_for) {
            return Ok(());
        }
        let mut compared = self.compared.lock().await;
        let key = |case: &TestCase| (case.id.clone(), signature_of(case));
        let is_new = |case: &TestCase| {
            !results.lacking.contains_key(&case.id) && !compared.contains_key(&key(case))
        };
        let unclear: Vec<_> = results.failed().filter(|case| is_new(case)).cloned().collect();
        if !unclear.is_empty() {
            self.fx.worktree.remove_stand_ins().await?;
            let scope = Scope::Tests(unclear.iter().map(|case| case.id.clone()).collect());
            let log = ".process/test-output-without-content.log";
            let without = self.fx.suite.run(&RunRequest::new(root, &scope, log)).await;
            self.fx.worktree.checkout(state.tree_on_disk()).await?;
            let mut readers = without.map_or_else(
                |_no_results| BTreeMap::new(),
                |without| read_by(&unclear, &without, &gaps, directory),
            );
            compared.extend(unclear.iter().map(|case| (key(case), readers.remove(&case.id))));
        }
        let known = results
            .failed()
            .filter_map(|case| Some((case.id.clone(), compared.get(&key(case))?.clone()?)));
        let known: Vec<_> = known.collect();
        results.lacking.extend(known);
        Ok(())
    }

    /// Runs tests; a run without results becomes an outcome of the step.
    async fn ran(&self, state: &FixLoop, scope: &Scope) -> Result<FixStepOutcome, Failure> {
        outcome_of(self.run(state, scope).await)
    }

    async fn baseline(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        self.announce(state, "running the full suite".into());
        let results = match self.run(state, &Scope::Full).await {
            Err(Failure::Effect(EffectError::Run(error))) if error.is_transient() => {
                let text = format!("{error}; running it once more");
                self.fx.screen.show(&Event::Notice { text });
                self.run(state, &Scope::Full).await?
            }
            ran => ran?,
        };
        if let Some(reason) = self.not_importable(state, &results).await? {
            return Ok(FixStepOutcome::NotImportable { results, reason });
        }
        let tree = state.tree_on_disk();
        let writes_tests = read::<Pipeline>(self.fx, PIPELINE).await?.is_some();
        let about = (&results, writes_tests);
        let mut hindrances = hindrances(about, tree, self.fx.worktree).await?;
        let packages = self.not_installed(state, &results).await?;
        if !packages.is_empty() {
            self.add_missing_packages(state, (&results, &packages), &mut hindrances).await?;
            return Ok(FixStepOutcome::NotInstalled { results, packages, hindrances });
        }
        if hindrances.is_empty() {
            return Ok(FixStepOutcome::Ran(Ok(results)));
        }
        Ok(FixStepOutcome::Hindered { results, hindrances })
    }

    /// Why the tests cannot import the project itself, where all failures say so.
    async fn not_importable(
        &self,
        state: &FixLoop,
        results: &Results,
    ) -> Result<Option<String>, Failure> {
        let failing: Vec<_> = results.failed().collect();
        self.reason_of_uninstalled(state, &failing, &results.command).await
    }

    /// Adds the tests that miss one of the packages, or the project itself.
    async fn add_missing_packages(
        &self,
        state: &FixLoop,
        (results, packages): (&Results, &BTreeSet<String>),
        hindrances: &mut BTreeMap<TestId, Hindrance>,
    ) -> Result<(), Failure> {
        for case in results.failed() {
            let package = package_of(case).filter(|name| packages.contains(name));
            let reason = match package {
                Some(package) => Some(reason(&[package].into())),
                None => self.reason_of_uninstalled(state, &[case], &results.command).await?,
            };
            let hindrance = reason.map(|reason| (case.id.clone(), Hindrance::NotInstalled(reason)));
            hindrances.extend(hindrance);
        }
        Ok(())
    }

    /// Why none of these failing tests can import the project itself, if that is what they all miss.
    async fn reason_of_uninstalled(
        &self,
        state: &FixLoop,
        failing: &[&TestCase],
        command: &str,
    ) -> Result<Option<String>, Failure> {
        if !failing.iter().any(|case| package_of(case).is_some()) {
            return Ok(None);
        }
        let (tree, directory) = (state.tree_on_disk(), &self.fx.suite.facts().directory);
        let files = self.fx.worktree.files(tree).await?;
        let mut manifests = Vec::new();
        for name in ["pyproject.toml", "setup.cfg", "setup.py"] {
            let path = format!("{directory}/{name}");
            let Ok(file) = RepoPath::parse(path.trim_start_matches('/')) else { continue };
            let text = self.fx.worktree.read(tree, &file).await?;
            manifests.extend(text.map(|text| String::from_utf8_lossy(&text).into_owned()));
        }
        let modules = uninstalled_modules(failing.iter().copied(), &files, &manifests, directory);
        let can_install = !manifests.is_empty();
        let reason = || reason_of_uninstalled(&modules, command, can_install);
        Ok((!modules.is_empty()).then(reason))
    }

    /// Packages that failing tests miss and the repository has neither now nor on the merge base.
    async fn not_installed(
        &self,
        state: &FixLoop,
        results: &Results,
    ) -> Result<BTreeSet<String>, Failure> {
        let mut packages: BTreeSet<String> = results.failed().filter_map(package_of).collect();
        if packages.is_empty() {
            return Ok(packages);
        }
        let mut files = self.fx.worktree.files(state.tree_on_disk()).await?;
        if let Some(base) = &self.base {
            let tree = self.fx.worktree.tree_of(base).await?;
            files.extend(self.fx.worktree.files(&tree).await?);
        }
        packages.retain(|package| !is_own(package, &files));
        Ok(packages)
    }

    async fn recheck(&self, state: &FixLoop, round: u32) -> Result<FixStepOutcome, Failure> {
        let failing = state.tests_to_recheck(round);
        let last = FLAKY_RUNS.max(round);
        self.announce(
            state,
            format!(
                "running {} again, alone, to find flaky ones ({round} of {last})",
                tests(&failing)
            ),
        );
        self.ran(state, &Scope::Tests(failing)).await
    }

    async fn confirm_flaky(&self, state: &FixLoop, round: u32) -> Result<FixStepOutcome, Failure> {
        let failing = state.ledger.failing_flaky();
        self.announce(
            state,
            format!(
                "running {} again, alone, known to be flaky ({round} of {FLAKY_RUNS})",
                tests(&failing)
            ),
        );
        self.ran(state, &Scope::Tests(failing)).await
    }

    async fn test_merge_base(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        let Some(base) = &self.base else {
            return Ok(FixStepOutcome::Ran(Err("there is no merge base".into())));
        };
        let failing = state.failing();
        self.announce(
            state,
            format!("running {} on the merge base {}", tests(&failing), base.short()),
        );
        let tree = self.fx.worktree.tree_of(base).await?;
        let root = self.fx.worktree.export(&tree, "base", Some(base)).await?;
        let known = self.fx.worktree.gaps(self.fx.worktree.root());
        if let Some(gap) = self.fx.worktree.gaps(&root).iter().find(|gap| !known.contains(gap)) {
            let reason = format!("`{}` of the merge base is {}", gap.path, gap.cause);
            return Ok(FixStepOutcome::Ran(Err(reason)));
        }
        let run = async |tests: Vec<TestId>| {
            let scope = Scope::Tests(tests);
            let log = ".process/test-output-base.log";
            self.fx.suite.run(&RunRequest::new(&root, &scope, log)).await
        };
        let mut first = run(failing).await;
        // A test that is flaky there does not fail on the base.
        if let Ok(results) = &mut first {
            let failed: Vec<TestId> = results.failed().map(|case| case.id.clone()).collect();
            if !failed.is_empty()
                && let Ok(again) = run(failed).await
            {
                let passed = again.cases.into_iter().filter(|case| case.status == Status::Passed);
                for case in passed {
                    if let Some(known) = results.cases.iter_mut().find(|one| one.id == case.id) {
                        *known = case;
                    }
                }
            }
        }
        outcome_of(first.map_err(Failure::from))
    }

    fn step_input<'s>(&'s self, state: &'s FixLoop) -> StepInput<'s> {
        StepInput { state, impact: &self.impact, fx: self.fx }
    }

    async fn diagnose_failures(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        self.announce(state, "looking for the places that explain the failures".into());
        self.fx.worktree.checkout(&state.accepted_tree).await?;
        Ok(self.fixer.diagnose_failures(self.step_input(state)).await?)
    }

    async fn propose_fix(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        self.announce(state, "searching for an edit".into());
        self.fx.worktree.checkout(&state.accepted_tree).await?;
        Ok(self.fixer.propose_fix(self.step_input(state)).await?)
    }

    async fn apply(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        let edits = edits_of(state)?;
        let tree = self.fx.worktree.graft(&state.accepted_tree, edits).await?;
        self.fx.worktree.checkout(&tree).await?;
        let mut impact = self.impact.lock().await;
        let affected = impact.affected(state, edits, self.fx).await?;
        Ok(FixStepOutcome::Applied { tree, affected })
    }

    async fn test_affected(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        let affected = attempt_of(state)?.affected.clone();
        self.announce(state, format!("running {} that the edit may affect", tests(&affected)));
        self.ran(state, &Scope::Tests(affected)).await
    }

    async fn test_full(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        self.announce(state, "running the full suite".into());
        self.ran(state, &Scope::Full).await
    }

    /// Commits the accepted sources. Without commits the edit is written as a patch file.
    async fn keep(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        let iteration = state.current_iteration;
        if !state.terms.commits {
            let patch = self.patch(&attempt_of(state)?.pre_tree, &state.accepted_tree).await?;
            self.fx
                .store
                .write_text(&format!("patches/iteration-{iteration}.patch"), &patch)
                .await?;
            return Ok(FixStepOutcome::Committed(None));
        }
        self.announce(state, "committing".into());
        self.commit(state, state.accepted_tree.clone(), commit::iteration(state)).await
    }

    async fn show_attempt(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        self.announce(state, "recording the attempt and taking it back".into());
        let tree = attempt_of(state)?.tree.clone();
        let tree = tree.ok_or_else(|| Failure::Internal("an attempt without sources".into()))?;
        self.commit(state, tree, commit::iteration(state)).await
    }

    async fn rollback(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        self.commit(state, state.committed_tree.clone(), commit::rollback(state)).await
    }

    /// Puts the accepted sources back, behind a patch file of a regression (specification.md 7.12).
    async fn restore(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        if let Some(attempt) = &state.attempt
            && let Some(tree) = &attempt.tree
            && state.terms.regressed == RegressionTrace::Patch
            && attempt
                .judged
                .as_ref()
                .is_some_and(|judged| judged.result == IterationResult::Regression)
        {
            let patch = self.patch(&attempt.pre_tree, tree).await?;
            let file = format!(".process/iteration-{}-regression.patch", state.current_iteration);
            self.fx.store.write_text(&file, &patch).await?;
        }
        self.fx.worktree.checkout(&state.accepted_tree).await?;
        Ok(FixStepOutcome::Restored)
    }

    async fn minimise(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        let doing = if state.drops_hunks() {
            "dropping what the suite does not need from the change"
        } else {
            "taking each hunk of the change out, to prove that it is needed"
        };
        self.announce(state, doing.into());
        let (tree, minimised) = minimise(state, self.fx).await?;
        self.fx.worktree.checkout(&tree).await?;
        Ok(FixStepOutcome::Minimised { tree, minimised })
    }

    /// Runs the suite without regreen's own files (specification.md 7.17).
    async fn confirm(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        self.announce(state, "running the full suite once more in a fresh checkout".into());
        let root = self.fx.worktree.export(&state.accepted_tree, "confirm", None).await?;
        outcome_of(self.run_in(&root, state, &Scope::Full).await)
    }

    async fn remove_state(&self, state: &FixLoop) -> Result<FixStepOutcome, Failure> {
        let request = CommitRequest {
            tree: state.accepted_tree.clone(),
            message: commit::complete(state),
            state: Vec::new(),
            time: self.fx.clock.now(),
        };
        Ok(FixStepOutcome::Committed(Some(self.fx.worktree.commit(&request).await?)))
    }

    async fn commit(
        &self,
        state: &FixLoop,
        tree: TreeId,
        message: String,
    ) -> Result<FixStepOutcome, Failure> {
        let files =
            committed_files(state.terms.state_is_committed, &self.state_prefix, self.fx).await?;
        let request = CommitRequest { tree, message, state: files, time: self.fx.clock.now() };
        Ok(FixStepOutcome::Committed(Some(self.fx.worktree.commit(&request).await?)))
    }

    /// Unified diff between two trees.
    pub async fn patch(&self, from: &TreeId, to: &TreeId) -> Result<String, Failure> {
        let files = self.fx.worktree.diff(from, to).await?;
        Ok(files.into_iter().map(|file| file.patch).collect())
    }
}

/// A run without results is an outcome of its step; any other failure ends the session, as does a
/// canary in the results.
fn outcome_of(run: Result<Results, Failure>) -> Result<FixStepOutcome, Failure> {
    match run {
        Ok(results) => Ok(FixStepOutcome::Ran(Ok(results))),
        Err(Failure::Effect(EffectError::Run(error)))
            if !matches!(error, RunError::Canary { .. }) =>
        {
            Ok(FixStepOutcome::Ran(Err(error.to_string())))
        }
        Err(failure) => Err(failure),
    }
}

fn attempt_of(state: &FixLoop) -> Result<&Attempt, Failure> {
    state.attempt.as_ref().ok_or_else(|| Failure::Internal("a step without an attempt".into()))
}

fn edits_of(state: &FixLoop) -> Result<&EditSet, Failure> {
    let proposal = attempt_of(state)?.proposal.as_ref();
    proposal
        .map(|proposal| &proposal.edits)
        .ok_or_else(|| Failure::Internal("nothing to apply".into()))
}

fn tests(ids: &[TestId]) -> String {
    count(ids.len(), "test")
}
