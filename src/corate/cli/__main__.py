"""``python -m corate.cli``: the command line if no ``corate`` script is on the path."""

from corate.cli import main

main()
