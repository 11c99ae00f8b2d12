"""Judging where the runs are: callbacks, gates, graph nodes, middleware, pytest."""
