"""What follows a failed attempt: another one later, a wait for a shared service, or the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from codehub.decide.judge import TERMINAL_REASONS
from codehub.decide.steps import RETRY_FROM
from codehub.model.plans import Died, Fault, GiveUp, Retry, Waiting, WaitUntil
from codehub.model.states import ErrorReason, Operation, Step
from codehub.model.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    timeouts: Mapping[Operation, timedelta]
    max_retries: int
    """The failed attempt with this number is the last."""
    first_backoff: timedelta
    longest_backoff: timedelta = timedelta(minutes=15)
    image_pull_timeout: timedelta = timedelta(minutes=30)
    crash_window: timedelta = timedelta(minutes=10)
    crash_limit: int = 5
    """So many deaths within the window are a crash loop."""
    restart_delay: timedelta = timedelta(seconds=5)

    def timeout(self, operation: Operation, step: Step) -> timedelta:
        """How long one attempt may take. Pulling an image has a limit of its own."""
        return self.image_pull_timeout if step is Step.PULL else self.timeouts[operation]


def backoff(failures: int, policy: RetryPolicy, spread: float) -> timedelta:
    """The pause after so many failures: doubled each time, capped, and moved by up to a fifth either way by `spread`
    (0 to 1), so that many workspaces that failed together do not come back together."""
    doubled = policy.first_backoff * (1 << min(failures - 1, 16))
    return min(doubled, policy.longest_backoff) * (0.8 + 0.4 * spread)


def after_failure(
    workspace: Workspace, step: Step, fault: Fault, now: datetime, policy: RetryPolicy, spread: float
) -> Retry | GiveUp | WaitUntil:
    """One switch from faults to what happens next (contract 10).

    A shared service that is away burns nobody's retries. A deletion is retried without end: it never becomes ERROR."""
    if fault.away is not None:
        return WaitUntil(None, Waiting.SERVICE, fault.away)
    failures = workspace.error_count + 1
    if workspace.deleted_at is None:
        if fault.reason in TERMINAL_REASONS:
            return GiveUp(fault, failures)
        if failures >= policy.max_retries:
            return GiveUp(Fault(ErrorReason.RETRY_EXCEEDED, f"{fault.reason}: {fault.detail}"), failures)
    return Retry(now + backoff(failures, policy, spread), RETRY_FROM.get(step, step), fault)


def after_death(workspace: Workspace, now: datetime, policy: RetryPolicy) -> Died | GiveUp:
    """An IDE that ends by itself is started again, at once the first time and then with growing delay, until so many
    deaths stand so close together that more starts would only hide the trouble."""
    deaths = (*(death for death in workspace.recent_deaths if now - death < policy.crash_window), now)
    if len(deaths) >= policy.crash_limit:
        fault = Fault(ErrorReason.ACTION_FAILED, f"the IDE ended {len(deaths)} times within {policy.crash_window}")
        return GiveUp(fault, max(workspace.error_count + 1, policy.max_retries))
    return Died(now + policy.restart_delay * ((1 << (len(deaths) - 1)) - 1), deaths)
