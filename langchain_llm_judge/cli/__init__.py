"""The command line: `llm-judge`, also `python -m langchain_llm_judge.cli`."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line on `sys.argv` and leave the process with its exit code."""
    from langchain_llm_judge.cli.app import app
    from langchain_llm_judge.cli.console import make_streams_forgiving

    make_streams_forgiving()
    try:
        app(prog_name="llm-judge")
    finally:
        # Taking down what litellm has loaded would keep the prompt waiting for seconds.
        gc.freeze()
