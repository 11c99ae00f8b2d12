"""Reaching a judge model."""
