"""Posting verdicts to LangSmith, for users who turned its tracing on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from langchain_llm_judge.results import feedback

logger = logging.getLogger(__name__)


def post_feedback(run_id: UUID, evaluations: Mapping[str, Any]) -> int:
    """Post every score of the evaluations to the run they are about.

    Nothing is sent where LangSmith tracing is off, and a failure to post is logged, never raised.

    Returns:
        How many scores were posted.
    """
    from langsmith import Client
    from langsmith.utils import tracing_is_enabled

    if not tracing_is_enabled():
        return 0
    posted = 0
    for name, result in evaluations.items():
        try:
            client = Client()
            for score in feedback(result):
                client.create_feedback(
                    run_id,
                    key=score["key"],
                    score=score["score"],
                    comment=score["comment"],
                    source_info={"judge": name},
                )
                posted += 1
        except Exception:
            logger.exception("posting the feedback of judge %r to LangSmith failed", name)
    return posted
