"""Is the new judge as good as the old one? From two runs over labelled rows to an answer with intervals.

python examples/new_judge_or_old.py [--model openai/gpt-4o-mini]
"""

import argparse

from langchain_llm_judge import (
    ExperimentStore,
    RAGJudge,
    compare_runs,
    human_agreement,
    judge_agreement,
    run_experiment,
)

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="offline", help="the new judge's model")
model = parser.parse_args().model

passages = ["Refunds are paid within 20 days.", "The Aurora 3 has a range of up to 80 km."]
answers = {
    "Refunds are paid within 20 days.": "pass",
    "Refunds are paid within 30 days.": "fail",
    "The Aurora 3 has a range of up to 80 km.": "pass",
    "The Aurora 3 has a range of up to 80 km. It flies.": "fail",
    "The Aurora 3 has a range of up to 120 km.": "fail",
}
rows = [
    {"id": str(number), "question": "What is promised?", "contexts": passages, "answer": answer}
    for number, answer in enumerate(answers)
]
labels = {str(number): label for number, label in enumerate(answers.values())}

store = ExperimentStore("sqlite://")  # in memory; give a URL to keep it
run_experiment(rows, RAGJudge("offline", threshold=0.5, name="judge"), name="old", store=store)
run_experiment(rows, RAGJudge(model, threshold=0.9, name="judge"), name="new", store=store)

for name in ("old", "new"):
    human = human_agreement(store, name, labels)
    print(f"{name}: agrees with people on {human.agreement:.0%} of {human.n} rows, kappa {human.kappa:.2f}")
print("judges agree:", judge_agreement(store, "old", "new").raw_agreement)
verdicts = compare_runs(store, "old", "new").verdicts["judge"]
print(f"only old passes {verdicts.only_a}, only new passes {verdicts.only_b}, exact p = {verdicts.p_value}")
