"""The front door: every public name is listed, resolves, and belongs where it says."""

from __future__ import annotations

import pytest

import langchain_llm_judge
from langchain_llm_judge import _HOMES

PUBLIC = [
    "AccuracyAgent",
    "AgentChecks",
    "AgentEvaluation",
    "AgentGrade",
    "AgentJudge",
    "AgentTrace",
    "AgreementReport",
    "ArgumentCorrectness",
    "ArgumentCorrectnessJudge",
    "ArgumentVerdict",
    "CheckReport",
    "CheckResult",
    "ClaimVerdict",
    "Comparison",
    "ConfigError",
    "ConsistencyReport",
    "Criterion",
    "CriterionGrade",
    "DEFAULT_CRITERIA",
    "DatasetError",
    "DeepEvalJudge",
    "EvaluationResult",
    "ExperimentStore",
    "Feedback",
    "Finding",
    "Grade",
    "GradingJudge",
    "HumanAgreement",
    "InjectionFinding",
    "InputError",
    "InsufficientDataError",
    "Interval",
    "JudgeCallbackHandler",
    "JudgeMiddleware",
    "JudgeReplyError",
    "JudgeTimeoutError",
    "Judged",
    "JudgedRun",
    "LLMJudge",
    "LLMJudgeError",
    "Message",
    "MetricResult",
    "MissingAPIKeyError",
    "MissingExtraError",
    "ModelCallError",
    "PairwiseJudge",
    "Panel",
    "PassageVerdict",
    "PositionBias",
    "RAGEvaluation",
    "RAGJudge",
    "RAGProvider",
    "RelevancyAgent",
    "RetrievalError",
    "Run",
    "RunRow",
    "ScriptedJudgeModel",
    "Settings",
    "StoreError",
    "StoreVersionError",
    "Thought",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "TraceConverter",
    "TraceError",
    "TraceRecorder",
    "TrajectoryMatch",
    "UnknownModelError",
    "UnsupportedByEngineError",
    "Usage",
    "VerdictFailedError",
    "ameasure_consistency",
    "aposition_bias",
    "assert_passes",
    "bootstrap_ci",
    "cohen_kappa",
    "compare_runs",
    "feedback",
    "fence",
    "gate",
    "human_agreement",
    "judge_agreement",
    "judge_in_place",
    "judge_node",
    "krippendorff_alpha",
    "match_trajectory",
    "measure_consistency",
    "position_bias",
    "route_on_verdict",
    "run_checks",
    "run_experiment",
    "scan_text",
    "spearman",
    "to_trace",
    "with_verdicts",
]


NAMES = [(home, name) for home, names in _HOMES.items() for name in names]


def test_the_list_is_the_public_api():
    assert sorted(langchain_llm_judge.__all__) == sorted(PUBLIC)
    assert set(PUBLIC) <= set(dir(langchain_llm_judge))


@pytest.mark.parametrize(("home", "name"), NAMES)
def test_name_resolves_to_what_its_home_defines(home: str, name: str):
    value = getattr(langchain_llm_judge, name)
    assert getattr(value, "__module__", None) in (None, "typing", f"langchain_llm_judge.{home}")


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Agentjudge'"):
        _ = langchain_llm_judge.Agentjudge


def test_star_import_gives_no_more_than_the_list():
    assert "annotations" not in langchain_llm_judge.__all__
    assert len(set(langchain_llm_judge.__all__)) == len(langchain_llm_judge.__all__)
