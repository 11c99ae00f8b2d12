"""How far a judge can be trusted: statistics on labels and numbers."""
