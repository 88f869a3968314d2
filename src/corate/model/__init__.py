"""The chain model, the lattice of a sentence, the tagger, and the model file."""
