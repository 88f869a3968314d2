"""``python -m corate`` is the command line."""

from corate.cli import main

if __name__ == "__main__":
    main()
