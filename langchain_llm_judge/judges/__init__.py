"""Judges: LangChain Runnables that return verdicts."""
