"""Input and output of bytes: streams, compression, encodings, atomic writing, and text in chunks."""
