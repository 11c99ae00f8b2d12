import pytest

from langchain_llm_judge.models.offline import OfflineEngine

ENGINE = OfflineEngine()


@pytest.mark.parametrize(
    ("claim", "passage", "supported"),
    [
        ("Refunds are possible within 20 days.", "Refunds within 20 days are possible.", True),
        ("Refunds are possible within 30 days.", "Refunds within 20 days are possible.", False),
        ("Refunds are possible within 20 hours.", "Refunds within 20 days are possible.", False),
        ("London is the capital of France.", "Paris is the capital of France.", False),
        ("Refunds are not possible.", "Refunds are possible.", False),
    ],
)
def test_support(claim: str, passage: str, supported: bool):
    assert ENGINE.support(claim, [passage]).supported is supported
