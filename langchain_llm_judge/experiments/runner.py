"""Judging a dataset row by row: bounded, resumable, and never twice."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from langchain_llm_judge.config import Settings
from langchain_llm_judge.errors import ConfigError, DatasetError, InputError, LLMJudgeError, TraceError, shown
from langchain_llm_judge.experiments.dataset import Row, content_hash, has_nan, read_dataset
from langchain_llm_judge.experiments.store import ExperimentStore, Known, Outcome, Run
from langchain_llm_judge.judges.base import Judge, identity_of
from langchain_llm_judge.judges.panel import named_apart
from langchain_llm_judge.reliability.asking import uncached as without_cache
from langchain_llm_judge.results import Usage, feedback, usage_of
from langchain_llm_judge.trace.convert import to_trace
from langchain_llm_judge.trace.schema import AgentTrace

T = TypeVar("T")
Target: TypeAlias = "Runnable[Any, Any] | Callable[[dict[str, Any]], Any]"


@dataclass
class Budget:
    """What a call may spend; a row is begun only while something is left."""

    usd: float | None = None
    calls: int | None = None
    spent: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        for name, limit in (("budget", self.usd), ("calls", self.calls)):
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0):
                raise ConfigError(f"{name}={shown(limit)} is no amount from 0; give a number, or None for no limit")

    @property
    def used_up(self) -> str | None:
        """Why no more rows may be begun; `None` while they may."""
        if self.calls is not None and self.spent.calls >= self.calls:
            return f"the budget of {self.calls} calls is used up"
        if self.usd is None:
            return None
        if self.spent.cost_usd is None:
            return f"the price of the judge's calls is not known, so a budget of {self.usd:g} USD cannot be kept"
        return f"the budget of {self.usd:g} USD is used up" if self.spent.cost_usd >= self.usd else None


@dataclass(frozen=True)
class NamedJudge:
    """A judge, what it is called, and what its verdicts depend on."""

    name: str
    runnable: Runnable[Any, Any]
    identity: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """Changes when earlier verdicts may no longer be reused."""
        return content_hash(self.identity)


@dataclass(frozen=True)
class Task:
    """One row to be judged once, by the judges that have not judged it yet."""

    row: Row
    repeat: int
    content: str
    judges: Sequence[NamedJudge]
    known: Known | None

    @property
    def place(self) -> tuple[str, int, str]:
        """What the store knows the row by."""
        return self.row.key, self.repeat, self.content


@dataclass
class Experiment:
    """A prepared run: what is left to do, and how."""

    run: Run
    tasks: list[Task]
    target: Target | None
    budget: Budget
    max_concurrency: int

    async def finish(self, done: Callable[[], None]) -> None:
        """Do what is left, as far as the budget goes."""
        waiting = iter(self.tasks)

        async def work() -> None:
            for task in waiting:
                if self.budget.used_up:
                    return
                await self._do(task)
                done()

        workers = min(self.max_concurrency, len(self.tasks))
        await asyncio.gather(*(work() for _ in range(workers)))

    async def _do(self, task: Task) -> None:
        try:
            inputs = task.known.inputs if task.known else await self._inputs(task.row)
        except Exception as error:
            await self._write(task, task.row.inputs, {}, error=_told(error))
            return
        outcomes = await asyncio.gather(*(self._outcome(judge, inputs) for judge in task.judges))
        keyed = {(judge.name, judge.fingerprint): one for judge, one in zip(task.judges, outcomes, strict=True)}
        await self._write(task, inputs, keyed)

    async def _inputs(self, row: Row) -> dict[str, Any]:
        """What the judges get: the row, with what the target makes of it."""
        if self.target is None:
            return row.inputs
        return merged(row.inputs, await _called(self.target, dict(row.inputs)))

    async def _outcome(self, judge: NamedJudge, inputs: dict[str, Any]) -> Outcome:
        try:
            result = await judge.runnable.ainvoke(inputs)
            feedback(result)  # refuses what is no judge's result
        except Exception as error:
            self.budget.spent += getattr(error, "usage", None) or Usage()
            return Outcome(error=_told(error))
        self.budget.spent += usage_of(result)
        return Outcome(result)

    async def _write(
        self,
        task: Task,
        inputs: Mapping[str, Any],
        outcomes: Mapping[tuple[str, str], Outcome],
        *,
        error: str | None = None,
    ) -> None:
        await asyncio.to_thread(self.run.store.write, self.run.id, task.place, inputs, outcomes, error=error)


def prepare(
    dataset: Any,
    judges: Any,
    *,
    target: Target | None = None,
    name: str,
    store: ExperimentStore | str | None = None,
    max_concurrency: int | None = None,
    repeats: int = 1,
    budget: float | None = None,
    calls: int | None = None,
    resume: bool = True,
    retry_failed: bool = False,
) -> Experiment:
    """Everything that can be refused before a call is spent; see `run_experiment`."""
    settings = Settings.from_environment()
    # Asking again is meant to be asking again: LangChain's cache would only repeat what it was told.
    named = _named(judges, uncached=repeats != 1 or retry_failed)
    rows = read_dataset(dataset)
    if target is None:
        _check(rows, named)
    opened = _opened(store, settings)
    if not resume and any(run.name == name for run in opened.runs()):
        raise ConfigError(f"run {name!r} is there already; give another name, or resume=True to go on with it")
    contents = [content_hash([row.inputs, _target_name(target)]) for row in rows]
    run = opened.begin(
        name,
        [(row.key, content) for row, content in zip(rows, contents, strict=True)],
        {judge.name: (judge.fingerprint, judge.identity) for judge in named},
        _from_one("repeats", repeats),
    )
    if retry_failed:
        opened.forget_failures(run.id)
    tasks = list(_tasks(rows, contents, named, opened.known(run.id), repeats))
    at_once = settings.max_concurrency if max_concurrency is None else _from_one("max_concurrency", max_concurrency)
    return Experiment(run, tasks, target, Budget(budget, calls), at_once)


async def arun_experiment(dataset: Any, judges: Any, *, progress: bool = True, **settings: Any) -> Run:
    """The async twin of `run_experiment`."""
    experiment = await asyncio.to_thread(lambda: prepare(dataset, judges, **settings))
    started = time.monotonic()
    with _progress(len(experiment.tasks), shown_at_all=progress) as report:
        await experiment.finish(report.advance)
        report.conclude(experiment.budget, time.monotonic() - started)
    return experiment.run


def run_experiment(dataset: Any, judges: Any, *, progress: bool = True, **settings: Any) -> Run:
    """Judge every row of a dataset and keep the verdicts.

    A row is written when it is judged. The same call after a break goes on where it stopped: what has a verdict
    is not judged again, unless the row, the judge, a criterion or the target's name changed meanwhile.
    Works inside a running event loop too.

    Args:
        dataset: Dicts, the path of a `.jsonl` or `.csv` file, or LangSmith examples; see `read_dataset`.
        judges: One judge or a list of them.
        progress: Show a bar on stderr, where that is a terminal.
        **settings: `target`: a Runnable or callable run for every row before judging; it gets the row, and a text it
            gives becomes `answer`, a dict is merged into the row, messages or a graph's state become a trace; its
            error is that row's. `name`: of the run. `store`: a store or its URL; left out, `JUDGE_STORE`, else
            memory. `max_concurrency`: rows at once. `repeats`: how often every row is judged. `budget`, `calls`: US
            dollars and judge calls this call may spend; rows beyond stay unjudged, for a later call.
            `resume=False` refuses a name that is there. `retry_failed=True` tries again what failed earlier.

    Raises:
        DatasetError: A row lacks what the judges need, or holds NaN; before any call.
        ConfigError: A setting is not usable.
        StoreError: The store cannot be opened or written.

    Example:
        >>> from langchain_llm_judge import RAGJudge, run_experiment
        >>> rows = [{"question": "Range?", "contexts": ["The range is 80 km."], "answer": "The range is 80 km."}]
        >>> run = run_experiment(rows, RAGJudge("offline"), name="first", progress=False)
        >>> run.summary()["faithfulness"].mean
        1.0
    """
    return _in_own_loop(arun_experiment(dataset, judges, progress=progress, **settings))


def _in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a thread of its own, so that a loop that is running here is not touched."""
    outcome: list[T] = []
    failure: list[BaseException] = []
    runner = asyncio.Runner()

    def run() -> None:
        try:
            with runner:
                outcome.append(runner.run(work))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="llm-judge-experiment", daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        _cancel_all(runner)
        thread.join(timeout=5)
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def _cancel_all(runner: asyncio.Runner) -> None:
    loop = runner.get_loop()
    loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])


def _named(judges: Any, *, uncached: bool) -> list[NamedJudge]:
    given = [judges] if isinstance(judges, Runnable) else judges
    if not isinstance(given, list | tuple) or not given or not all(isinstance(judge, Runnable) for judge in given):
        raise ConfigError(f"judges={shown(judges)} holds no judges; give one such as RelevancyAgent(), or a list")
    return [
        NamedJudge(
            name,
            without_cache(judge) if uncached else judge,
            identity_of(judge, name),
        )
        for name, judge in named_apart(given).items()
    ]


def _check(rows: Iterable[Row], judges: Sequence[NamedJudge]) -> None:
    """Refuse rows that a judge could not judge, before anything is spent."""
    for row in rows:
        for judge in judges:
            if not isinstance(judge.runnable, Judge):
                continue
            try:
                judge.runnable.check_input(row.inputs)
            except (InputError, TraceError) as error:
                raise DatasetError(
                    f"{row.place}: {error}",
                    path=row.place.path,
                    line=row.place.line,
                    field=getattr(error, "field", None),
                ) from error


def _opened(store: ExperimentStore | str | None, settings: Settings) -> ExperimentStore:
    if isinstance(store, ExperimentStore):
        return store
    return ExperimentStore(store or settings.store or "sqlite://")


def _tasks(
    rows: Sequence[Row],
    contents: Sequence[str],
    judges: Sequence[NamedJudge],
    known: Mapping[tuple[str, int, str], Known],
    repeats: int,
) -> Iterator[Task]:
    """What is left to do, row by row."""
    for row, content in zip(rows, contents, strict=True):
        for repeat in range(repeats):
            before = known.get((row.key, repeat, content))
            if before is not None and before.failed:
                continue
            judged = before.judged if before else set()
            left = [judge for judge in judges if (judge.name, judge.fingerprint) not in judged]
            if left:
                yield Task(row, repeat, content, left, before)


async def _called(target: Target, inputs: dict[str, Any]) -> Any:
    if isinstance(target, Runnable):
        return await target.ainvoke(inputs)
    given = await asyncio.to_thread(target, inputs)
    return await given if inspect.isawaitable(given) else given


def merged(inputs: Mapping[str, Any], output: Any) -> dict[str, Any]:
    """A row with what the target made of it.

    Raises:
        InputError: The output is none of the forms that can be judged.
    """
    if isinstance(output, str | BaseMessage):
        return {**inputs, "answer": output if isinstance(output, str) else str(output.text)}
    if isinstance(output, AgentTrace | list) or (isinstance(output, Mapping) and "messages" in output):
        trace = to_trace(output)
        passages = {"contexts": trace.contexts} if trace.contexts else {}
        return {**passages, **inputs, "trace": trace, "answer": trace.final_answer}
    if has_nan(output):
        raise InputError(f"the target gave NaN or infinity: {shown(output)}; leave a missing value out", found=output)
    if isinstance(output, Mapping):
        return {**inputs, **output}
    raise InputError(
        f"the target gave {type(output).__name__}: {shown(output)}; expected text, a dict, messages, a trace "
        "or a graph's state",
        found=output,
    )


def _target_name(target: Target | None) -> str | None:
    if target is None:
        return None
    return target.get_name() if isinstance(target, Runnable) else getattr(target, "__name__", type(target).__name__)


def _from_one(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name}={shown(value)} is no whole number from 1")
    return value


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, LLMJudgeError) else f"{type(error).__name__}: {shown(str(error))}"


class _Report:
    """Progress on a terminal's stderr; silent elsewhere."""

    def __init__(self, progress: Any, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task("judging", total=total)

    def advance(self) -> None:
        self._progress.advance(self._task)

    def conclude(self, budget: Budget, seconds: float) -> None:
        spent = budget.spent
        cost = "unknown cost" if spent.cost_usd is None else f"{spent.cost_usd:.4f} USD"
        told = f"{spent.calls} calls, {cost}, {seconds:.1f} s"
        self._progress.console.print(f"{told}; {budget.used_up}" if budget.used_up else told)


@contextmanager
def _progress(total: int, *, shown_at_all: bool) -> Iterator[_Report]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    console.quiet = not (shown_at_all and console.is_terminal)
    with Progress(console=console, disable=console.quiet, transient=True) as progress:
        yield _Report(progress, total)
