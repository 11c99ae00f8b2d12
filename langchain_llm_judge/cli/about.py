"""What is installed."""

from __future__ import annotations

import langchain_llm_judge
from langchain_llm_judge.cli.options import AsJson
from langchain_llm_judge.cli.outcome import Outcome


def version(as_json: AsJson = False) -> Outcome:
    """Print the version."""
    installed = langchain_llm_judge.__version__
    return Outcome({"version": installed}, installed)
