"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Model: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Judge model: 'provider/name' (litellm), 'provider:name' (LangChain), or 'offline' (no model).",
    ),
]
Provider: TypeAlias = Annotated[
    str | None, typer.Option("--provider", metavar="NAME", help="litellm provider of the model, such as anthropic.")
]
Config: TypeAlias = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="ini file with API keys; config.ini when left out.")
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")
]
TraceFile: TypeAlias = Annotated[
    str,
    typer.Option(
        "--trace-file", metavar="FILE", help="A trace, messages, a graph's state or recorded events, as JSON."
    ),
]
