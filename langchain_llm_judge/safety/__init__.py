"""The trust boundary: text that the data controls."""
