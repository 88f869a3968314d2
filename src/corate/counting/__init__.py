"""All that is counted, and what is derived from counts: every training method stands on it."""
