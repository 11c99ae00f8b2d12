"""Deterministic checks of agent runs; no model is ever asked."""
