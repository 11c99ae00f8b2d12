"""The tables of the experiment store, and how older stores become this version's.

Every change of the tables is one numbered step, run in order and never edited afterwards, so a store
of any age ends up as a new one would.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    update,
)

from langchain_llm_judge.errors import StoreVersionError

tables = MetaData()

schema_version = Table("llm_judge_schema", tables, Column("version", Integer, nullable=False))

runs = Table(
    "llm_judge_runs",
    tables,
    Column("id", String(32), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("created_at", String(32), nullable=False),
    Column("package_version", String(40), nullable=False),
    Column("repeats", Integer, nullable=False),
)

judges = Table(
    "llm_judge_judges",
    tables,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(32), nullable=False),
    Column("name", String(200), nullable=False),
    Column("fingerprint", String(32), nullable=False),
    Column("identity", Text, nullable=False),
    Index("llm_judge_judges_by_run", "run_id"),
)
"""The judges of a run as they are now; evaluations of earlier ones stay, and no longer count."""

members = Table(
    "llm_judge_members",
    tables,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(32), nullable=False),
    Column("key", String(200), nullable=False),
    Column("content", String(32), nullable=False),
    Index("llm_judge_members_by_run", "run_id", "key", "content"),
)
"""The rows of a run's dataset as they are now, in order; what was judged of earlier ones no longer counts."""

rows = Table(
    "llm_judge_rows",
    tables,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(32), nullable=False),
    Column("key", String(200), nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("content", String(32), nullable=False),
    Column("inputs", Text, nullable=False),
    Column("error", Text),
    Column("created_at", String(32), nullable=False),
    UniqueConstraint("run_id", "key", "repeat", "content", name="llm_judge_row_once"),
)

evaluations = Table(
    "llm_judge_evaluations",
    tables,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("row_id", Integer, nullable=False),
    Column("judge", String(200), nullable=False),
    Column("fingerprint", String(32), nullable=False),
    Column("label", String(40)),
    Column("score", Float),
    Column("result", Text),
    Column("error", Text),
    Column("created_at", String(32), nullable=False),
    UniqueConstraint("row_id", "judge", "fingerprint", name="llm_judge_evaluation_once"),
)

measures = Table(
    "llm_judge_measures",
    tables,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("evaluation_id", Integer, nullable=False),
    Column("metric", String(200), nullable=False),
    Column("score", Float),
    Index("llm_judge_measures_by_evaluation", "evaluation_id"),
)
"""The scores of every evaluation by themselves, so that summaries need not read whole results."""


def _first_tables(connection: Connection) -> None:
    tables.create_all(connection)


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_first_tables,)
"""Step N makes version N + 1 of version N. The first one makes all tables and is the only one that may use them."""

VERSION = len(MIGRATIONS)


def bring_up_to_date(connection: Connection, where: str) -> None:
    """Make the tables, or change older ones into this version's.

    Raises:
        StoreVersionError: A newer version wrote the store; it is left untouched.
    """
    found = _version(connection)
    if found > VERSION:
        raise StoreVersionError(
            f"{where} has schema {found}, this version reads up to {VERSION}; upgrade langchain-llm-judge"
        )
    if found == VERSION:
        return
    for step in MIGRATIONS[found:]:
        step(connection)
    statement = update(schema_version) if found else insert(schema_version)
    connection.execute(statement.values(version=VERSION))


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(schema_version.name):
        return 0
    return int(connection.execute(select(schema_version.c.version)).scalar() or 0)
