"""Where bytes come from and go to: streams, compression, encodings, atomic writing, and text in chunks."""
