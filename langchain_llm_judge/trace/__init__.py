"""Runs of agents as framework-agnostic traces."""
