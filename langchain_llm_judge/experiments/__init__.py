"""Datasets judged row by row and kept in a database."""
