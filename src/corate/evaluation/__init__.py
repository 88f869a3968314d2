"""How good predicted labels are."""
