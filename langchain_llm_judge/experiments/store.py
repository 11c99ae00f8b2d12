"""Experiments in a database: every row and every whole result, written as it comes."""

from __future__ import annotations

import difflib
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Engine,
    Insert,
    Select,
    and_,
    create_engine,
    delete,
    event,
    func,
    insert,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from langchain_llm_judge.errors import StoreError, shown
from langchain_llm_judge.experiments.codec import from_json, to_json
from langchain_llm_judge.experiments.measures import Measure, MetricSummary, summarize
from langchain_llm_judge.experiments.schema import (
    bring_up_to_date,
    evaluations,
    judges,
    measures,
    members,
    rows,
    runs,
)
from langchain_llm_judge.results import feedback, label_of, score_of
from langchain_llm_judge.trace.values import plain

DEFAULT_URL = "sqlite:///llm_judge.db"
_BUSY_S = 60


class Outcome(NamedTuple):
    """What one judge gave for one row: a result, or why there is none."""

    result: Any = None
    error: str | None = None


@dataclass(frozen=True)
class RunRow:
    """One row of a run, with what every judge said of it."""

    key: str
    repeat: int
    """From 0."""
    inputs: dict[str, Any]
    """What the judges were given, the target's output included."""
    evaluations: dict[str, Any]
    """Name of the judge → its result."""
    errors: dict[str, str]
    """Name of the judge, or `target`, → why there is no result."""


@dataclass(frozen=True)
class RunInfo:
    """What `store.runs()` tells of a run."""

    id: str
    name: str
    created_at: str
    """UTC, ISO 8601."""
    package_version: str
    rows: int
    """Rows judged so far, repeats counted."""


@dataclass
class Known:
    """What a run has of one row already."""

    row_id: int
    inputs: dict[str, Any]
    failed: bool
    judged: set[tuple[str, str]] = field(default_factory=set)
    """Name and fingerprint of the judges that have a result or an error."""


class ExperimentStore:
    """Runs in a database: SQLite by default, PostgreSQL by URL.

    Safe for any number of threads and processes. Opening it makes the tables or brings older ones up to date.

    Args:
        url: A SQLAlchemy URL, such as `sqlite:///runs.db` or `postgresql+psycopg://host/db`.

    Raises:
        StoreError: The database cannot be opened.
        StoreVersionError: A newer version of this package wrote it; it is left untouched.
    """

    def __init__(self, url: str = DEFAULT_URL) -> None:
        self._engine = _engine(url)
        # A database in memory has one connection, which threads must take turns with.
        self._lock = threading.RLock() if isinstance(self._engine.pool, StaticPool) else nullcontext()
        try:
            with self._writing() as connection:
                bring_up_to_date(connection, self.url)
        except SQLAlchemyError as error:
            raise StoreError(f"{self.url} cannot be opened: {_first_line(error)}") from error

    @property
    def url(self) -> str:
        """The database's URL, without its password."""
        return self._engine.url.render_as_string(hide_password=True)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction that is going to write."""
        with self._lock, self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A connection that only reads."""
        with self._lock, self._engine.connect() as connection:
            yield connection

    def __repr__(self) -> str:
        return f"ExperimentStore({self.url!r})"

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def runs(self) -> list[RunInfo]:
        """All runs, the newest first."""
        counted = (
            select(rows.c.run_id, func.count().label("judged")).select_from(_current_rows()).group_by(rows.c.run_id)
        ).subquery()
        statement = (
            select(runs, func.coalesce(counted.c.judged, 0).label("judged"))
            .outerjoin(counted, counted.c.run_id == runs.c.id)
            .order_by(runs.c.created_at.desc(), runs.c.name)
        )
        with self._reading() as connection:
            return [
                RunInfo(run.id, run.name, run.created_at, run.package_version, run.judged)
                for run in connection.execute(statement)
            ]

    def run(self, name: str) -> Run:
        """A run by its name or id.

        Raises:
            StoreError: There is none; the message lists the nearest names.
        """
        with self._reading() as connection:
            found = connection.execute(select(runs).where((runs.c.name == name) | (runs.c.id == name))).first()
            if found is not None:
                return Run(self, found.id, found.name, found.created_at, found.package_version)
            names = [other for (other,) in connection.execute(select(runs.c.name))]
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.3) or names[:3]
        hint = f"nearest are {', '.join(map(repr, close))}" if close else "it holds no runs yet"
        raise StoreError(f"no run {shown(name)} in {self.url}; {hint}")

    def begin(
        self,
        name: str,
        contents: Sequence[tuple[str, str]],
        identities: Mapping[str, tuple[str, Mapping[str, Any]]],
        repeats: int,
    ) -> Run:
        """Open a run for writing: a new one, or one of this name with its rows and judges as they are now.

        Args:
            name: The run's name.
            contents: Key and content hash of every row, in order.
            identities: Judge → fingerprint and what it was made of.
            repeats: How often every row is judged.
        """
        new = {"id": uuid.uuid4().hex, "name": name, "created_at": _now(), "package_version": _version()}
        with suppress(IntegrityError), self._writing() as connection:  # a run of this name is resumed
            connection.execute(insert(runs).values(repeats=repeats, **new))
        run = self.run(name)
        with self._writing() as connection:
            connection.execute(update(runs).where(runs.c.id == run.id).values(repeats=repeats))
            connection.execute(delete(members).where(members.c.run_id == run.id))
            connection.execute(delete(judges).where(judges.c.run_id == run.id))
            connection.execute(
                insert(members), [{"run_id": run.id, "key": key, "content": content} for key, content in contents]
            )
            connection.execute(
                insert(judges),
                [
                    {"run_id": run.id, "name": judge, "fingerprint": fingerprint, "identity": to_json(identity)}
                    for judge, (fingerprint, identity) in identities.items()
                ],
            )
        return run

    def known(self, run_id: str) -> dict[tuple[str, int, str], Known]:
        """What a run has already, by key, repeat and content."""
        found: dict[tuple[str, int, str], Known] = {}
        by_id: dict[int, Known] = {}
        with self._reading() as connection:
            for row in connection.execute(select(rows).where(rows.c.run_id == run_id)):
                known = Known(row.id, from_json(row.inputs), row.error is not None)
                found[(row.key, row.repeat, row.content)] = by_id[row.id] = known
            judged = (
                select(evaluations.c.row_id, evaluations.c.judge, evaluations.c.fingerprint)
                .join(rows, rows.c.id == evaluations.c.row_id)
                .where(rows.c.run_id == run_id)
            )
            for row_id, judge, fingerprint in connection.execute(judged):
                by_id[row_id].judged.add((judge, fingerprint))
        return found

    def write(
        self,
        run_id: str,
        row: tuple[str, int, str],
        inputs: Mapping[str, Any],
        outcomes: Mapping[tuple[str, str], Outcome],
        *,
        error: str | None = None,
    ) -> None:
        """Write a row with what its judges gave, all of it or nothing; what is there already stays.

        Args:
            run_id: The run.
            row: Key, repeat and content hash.
            inputs: What the judges were given.
            outcomes: Name and fingerprint of a judge → its outcome.
            error: Why the target gave nothing to judge.

        Raises:
            StoreError: It cannot be written, or holds what is no JSON.
        """
        stored = {name: _encoded(outcome) for name, outcome in outcomes.items()}
        text = to_json(inputs, foreign=plain)
        for last in (False, True):
            try:
                with self._writing() as connection:
                    row_id = _row_id(connection, run_id, row, text, error)
                    _add_evaluations(connection, row_id, stored)
                return
            except IntegrityError as problem:
                # Another process wrote the same row in between; the second time it is seen.
                if last:
                    raise StoreError(f"row {row[0]!r} cannot be written: {_first_line(problem)}") from problem
            except SQLAlchemyError as problem:
                raise StoreError(f"row {row[0]!r} cannot be written: {_first_line(problem)}") from problem

    def forget_failures(self, run_id: str) -> None:
        """Take back what failed in a run, rows and evaluations, so that it is tried again."""
        of_run = select(rows.c.id).where(rows.c.run_id == run_id)
        with self._writing() as connection:
            connection.execute(
                delete(evaluations).where(evaluations.c.row_id.in_(of_run), evaluations.c.error.is_not(None))
            )
            connection.execute(delete(rows).where(rows.c.run_id == run_id, rows.c.error.is_not(None)))

    def read_rows(self, run_id: str) -> list[RunRow]:
        """The rows of a run as its dataset and judges are now, in the dataset's order."""
        statement = (
            select(rows, evaluations.c.judge, evaluations.c.result, evaluations.c.error.label("judge_error"))
            .select_from(_current_rows().outerjoin(evaluations, _of_current_judge()))
            .where(rows.c.run_id == run_id)
            .order_by(members.c.id, rows.c.repeat, evaluations.c.id)
        )
        found: dict[int, RunRow] = {}
        with self._reading() as connection:
            for line in connection.execute(statement):
                row = found.get(line.id)
                if row is None:
                    errors = {} if line.error is None else {"target": line.error}
                    row = found[line.id] = RunRow(line.key, line.repeat, from_json(line.inputs), {}, errors)
                if line.judge_error is not None:
                    row.errors[line.judge] = line.judge_error
                elif line.judge is not None:
                    row.evaluations[line.judge] = from_json(line.result)
        return list(found.values())

    def read_measures(self, run_id: str) -> list[Measure]:
        """Every score of a run, without the whole results; a judge that failed has one without metric."""
        statement: Select[Any] = (
            select(
                rows.c.key,
                rows.c.repeat,
                evaluations.c.judge,
                func.coalesce(measures.c.metric, ""),
                measures.c.score,
                evaluations.c.label,
            )
            .select_from(
                _current_rows()
                .join(evaluations, _of_current_judge())
                .outerjoin(measures, measures.c.evaluation_id == evaluations.c.id)
            )
            .where(rows.c.run_id == run_id)
            .order_by(members.c.id, rows.c.repeat, evaluations.c.id, measures.c.id)
        )
        with self._reading() as connection:
            return [Measure(*line) for line in connection.execute(statement)]

    def read_verdicts(self, run_id: str) -> Sequence[Any]:
        """Key, repeat, judge, label and score of every evaluation; a row without evaluations has one without judge."""
        statement: Select[Any] = (
            select(rows.c.key, rows.c.repeat, evaluations.c.judge, evaluations.c.label, evaluations.c.score)
            .select_from(_current_rows().outerjoin(evaluations, _of_current_judge()))
            .where(rows.c.run_id == run_id)
            .order_by(members.c.id, rows.c.repeat, evaluations.c.id)
        )
        with self._reading() as connection:
            return connection.execute(statement).all()


@dataclass(frozen=True)
class Run:
    """One run of an experiment."""

    store: ExperimentStore
    id: str
    name: str
    created_at: str
    """UTC, ISO 8601."""
    package_version: str

    @property
    def rows(self) -> list[RunRow]:
        """The rows in the dataset's order, with whole results; read from the store each time."""
        return self.store.read_rows(self.id)

    def measures(self) -> list[Measure]:
        """Every score of every row, without the whole results."""
        return self.store.read_measures(self.id)

    def verdicts(self) -> Sequence[Any]:
        """Key, repeat, judge, label and score of every verdict, without the whole results; for `judge_agreement`."""
        return self.store.read_verdicts(self.id)

    def summary(self) -> dict[str, MetricSummary]:
        """Metric → count, mean, interval and failures; a metric that two judges share has the judge's name in front."""
        return summarize(self.measures())


def _current_rows() -> Any:
    """Rows that the run's dataset has now."""
    return rows.join(
        members,
        and_(members.c.run_id == rows.c.run_id, members.c.key == rows.c.key, members.c.content == rows.c.content),
    ).join(runs, and_(runs.c.id == rows.c.run_id, rows.c.repeat < runs.c.repeats))


def _of_current_judge() -> Any:
    """Evaluations by judges that the run has now."""
    known = (
        select(judges.c.id)
        .where(
            judges.c.run_id == rows.c.run_id,
            judges.c.name == evaluations.c.judge,
            judges.c.fingerprint == evaluations.c.fingerprint,
        )
        .exists()
    )
    return and_(evaluations.c.row_id == rows.c.id, known)


def _row_id(connection: Connection, run_id: str, row: tuple[str, int, str], inputs: str, error: str | None) -> int:
    """The id of a row, which is written where it is not there yet."""
    key, repeat, content = row
    values = {"run_id": run_id, "key": key, "repeat": repeat, "content": content}
    same = and_(*(rows.c[column] == value for column, value in values.items()))
    found = connection.execute(select(rows.c.id).where(same)).scalar()
    if found is not None:
        return int(found)
    return _inserted(connection, insert(rows).values(**values, inputs=inputs, error=error, created_at=_now()))


def _add_evaluations(connection: Connection, row_id: int, stored: Mapping[tuple[str, str], _Encoded]) -> None:
    """Write the evaluations that the row has not got yet."""
    known = select(evaluations.c.judge, evaluations.c.fingerprint).where(evaluations.c.row_id == row_id)
    there = {(judge, fingerprint) for judge, fingerprint in connection.execute(known)}
    for (judge, fingerprint), (columns, scores) in stored.items():
        if (judge, fingerprint) in there:
            continue
        values = {"row_id": row_id, "judge": judge, "fingerprint": fingerprint, "created_at": _now(), **columns}
        evaluation_id = _inserted(connection, insert(evaluations).values(**values))
        if scores:
            connection.execute(insert(measures), [{"evaluation_id": evaluation_id, **score} for score in scores])


def _inserted(connection: Connection, statement: Insert) -> int:
    key = connection.execute(statement).inserted_primary_key
    return int(key[0]) if key else 0


class _Encoded(NamedTuple):
    """An outcome as the columns of an evaluation, and its scores."""

    columns: dict[str, Any]
    scores: list[dict[str, Any]]


def _encoded(outcome: Outcome) -> _Encoded:
    if outcome.error is not None:
        return _Encoded({"label": None, "score": None, "result": None, "error": outcome.error}, [])
    scores = [
        {"metric": one["key"], "score": None if one["score"] is None else float(one["score"])}
        for one in feedback(outcome.result)
    ]
    columns = {"label": label_of(outcome.result), "score": score_of(outcome.result), "error": None}
    return _Encoded({**columns, "result": to_json(outcome.result)}, scores)


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return create_engine(parsed, pool_pre_ping=True)
        memory = parsed.database in (None, "", ":memory:")
        options: dict[str, Any] = {"poolclass": StaticPool} if memory else {}
        engine = create_engine(parsed, connect_args={"timeout": _BUSY_S, "check_same_thread": False}, **options)
    except (SQLAlchemyError, ImportError) as error:
        raise StoreError(
            f"{shown(url)} is no usable database URL ({_first_line(error)}); give one such as {DEFAULT_URL!r}"
        ) from error
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # sqlite3 would begin transactions by itself, and too late.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA busy_timeout={_BUSY_S * 1000}")


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later cannot wait for another writer, it fails at once: so those
    # that write take the lock when they begin.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _version() -> str:
    try:
        return version("langchain-llm-judge")
    except PackageNotFoundError:
        return "unknown"


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
