"""`python -m manyclass`, for where the command is not on the path."""

from manyclass.cli.main import main

if __name__ == "__main__":
    main()
