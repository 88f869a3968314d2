"""A page that shows what a model is, and how it labels a text."""
