"""LLM judges for LangChain and LangGraph.

Names load on first use, so importing the package costs next to nothing and needs no extra.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES: dict[str, tuple[str, ...]] = {
    "attach.callbacks": ("JudgeCallbackHandler", "JudgedRun"),
    "attach.gates": ("gate", "judge_node", "route_on_verdict"),
    "attach.in_place": ("Judged", "judge_in_place", "with_verdicts"),
    "attach.middleware": ("JudgeMiddleware",),
    "attach.pytest_plugin": ("assert_passes",),
    "checks.base": ("CheckReport", "CheckResult", "Finding"),
    "checks.match": ("TrajectoryMatch", "match_trajectory"),
    "checks.run": ("AgentChecks", "run_checks"),
    "config": ("Settings",),
    "errors": (
        "ConfigError",
        "DatasetError",
        "InputError",
        "InsufficientDataError",
        "JudgeReplyError",
        "JudgeTimeoutError",
        "LLMJudgeError",
        "MissingAPIKeyError",
        "MissingExtraError",
        "ModelCallError",
        "RetrievalError",
        "StoreError",
        "StoreVersionError",
        "TraceError",
        "UnknownModelError",
        "UnsupportedByEngineError",
        "VerdictFailedError",
    ),
    "experiments.compare": ("compare_runs",),
    "experiments.runner": ("run_experiment",),
    "experiments.store": ("ExperimentStore", "Run", "RunRow"),
    "judges.accuracy": ("AccuracyAgent",),
    "judges.agent": ("AgentEvaluation", "AgentGrade", "AgentJudge"),
    "judges.argument_verdicts": ("ArgumentVerdict",),
    "judges.arguments": ("ArgumentCorrectness", "ArgumentCorrectnessJudge"),
    "judges.criteria": ("DEFAULT_CRITERIA", "Criterion", "CriterionGrade"),
    "judges.deepeval_metric": ("DeepEvalJudge", "MetricResult"),
    "judges.grading": ("Grade", "GradingJudge"),
    "judges.llm_judge": ("LLMJudge",),
    "judges.pairwise": ("Comparison", "PairwiseJudge"),
    "judges.panel": ("Panel",),
    "judges.rag": ("RAGJudge",),
    "judges.rag_verdicts": ("ClaimVerdict", "PassageVerdict", "RAGEvaluation"),
    "judges.relevancy": ("RelevancyAgent",),
    "reliability.agreement": ("AgreementReport", "judge_agreement"),
    "reliability.bias": ("PositionBias", "aposition_bias", "position_bias"),
    "reliability.bootstrap": ("bootstrap_ci",),
    "reliability.consistency": ("ConsistencyReport", "ameasure_consistency", "measure_consistency"),
    "reliability.correlation": ("spearman",),
    "reliability.human": ("HumanAgreement", "human_agreement"),
    "reliability.interval": ("Interval",),
    "reliability.kappa": ("cohen_kappa",),
    "reliability.krippendorff": ("krippendorff_alpha",),
    "results": ("EvaluationResult", "Feedback", "Usage", "feedback"),
    "retrieval": ("RAGProvider",),
    "safety.fence": ("fence",),
    "safety.injection": ("InjectionFinding", "scan_text"),
    "testing": ("ScriptedJudgeModel",),
    "trace.convert": ("TraceConverter", "to_trace"),
    "trace.live": ("TraceRecorder",),
    "trace.schema": ("AgentTrace", "Message", "Thought", "ToolCall", "ToolResult", "ToolSpec"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("langchain-llm-judge")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
