//! Explains the failures before anything is changed: evidence, history, and what would be tried.

use crate::domain::explanation::{
    Approach, ExplainedCluster, Explanation, LineOrigin, ProviderAnalysis, SearchBudget,
    SuspiciousLine,
};
use crate::domain::fix_plan::FixPlan;
use crate::domain::id::CommitId;
use crate::domain::provider::EMBEDDED;
use crate::effect::{EffectError, Effects};
use crate::repair;
use crate::role::ask::ChainEntry;

use super::{Fixer, StepInput};

/// Clusters whose history is read; the largest come first.
const DATED: usize = 20;

impl Fixer {
    /// Explains the failures that `plan` is for.
    pub(super) async fn explain(
        &self,
        plan: Option<&FixPlan>,
        step: StepInput<'_>,
    ) -> Result<Explanation, EffectError> {
        let StepInput { state, fx, .. } = step;
        let (mut clusters, search) = match self.embedded.explain(step).await {
            // As in the plan, providers see the failures even if no candidate can be run.
            Err(EffectError::Run(_)) if self.has_models(fx) => {
                let failing: Vec<_> = state.ledger.failing_cases().cloned().collect();
                (vec![repair::unlocated(&failing, state.failing())], SearchBudget::default())
            }
            explained => explained?,
        };
        let base = self.settings.base.as_ref().map(|(commit, _)| commit);
        for (number, cluster) in clusters.iter_mut().enumerate() {
            cluster.analysis = plan.and_then(|plan| analysis(plan, cluster));
            cluster.preexisting = shared(cluster, &state.preexisting);
            cluster.introduced = shared(cluster, &state.introduced);
            if let Some(place) = cluster.place.as_ref().filter(|_| number < DATED) {
                cluster.origin = origin(place, base, fx).await;
            }
        }
        let known = |name: &str| fx.models.iter().any(|model| model.name() == name);
        let chain = self.settings.chain.iter().filter_map(|entry| match entry {
            ChainEntry::Embedded => Some(EMBEDDED.to_owned()),
            ChainEntry::Provider(name) => known(name).then(|| name.clone()),
        });
        let approach = Approach {
            strategy: state.strategy(),
            reason: state.strategy_reason.clone(),
            chain: chain.collect(),
            search,
            max_iterations: state.terms.max_iterations,
        };
        Ok(Explanation { clusters, approach })
    }
}

/// What a provider says about the tests of a cluster.
fn analysis(plan: &FixPlan, cluster: &ExplainedCluster) -> Option<ProviderAnalysis> {
    let mut causes = plan.root_causes.iter().filter(|_| plan.author != EMBEDDED);
    let cause = causes.find(|cause| cause.tests.iter().any(|test| cluster.tests.contains(test)))?;
    Some(ProviderAnalysis {
        author: plan.author.clone(),
        cause: cause.cause.clone(),
        place: cause.point.to_string(),
    })
}

/// How many tests of a cluster are in a list.
fn shared(cluster: &ExplainedCluster, tests: &[crate::domain::id::TestId]) -> u32 {
    let count = cluster.tests.iter().filter(|test| tests.contains(test)).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The commit that last changed the line, else its function; unknown in a shallow clone.
async fn origin(place: &SuspiciousLine, base: Option<&CommitId>, fx: &Effects<'_>) -> LineOrigin {
    for lines in [place.line..=place.line, place.start..=place.end] {
        match fx.worktree.last_change(&place.file, lines, base).await {
            Ok(LineOrigin::BeforeBase) => {}
            Ok(origin) => return origin,
            Err(error) => {
                tracing::debug!(%error, "the history of a line cannot be read");
                return LineOrigin::Unknown;
            }
        }
    }
    LineOrigin::BeforeBase
}
