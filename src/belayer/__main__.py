"""`python -m belayer` is `belayer`."""

from belayer.cli.app import main

if __name__ == "__main__":
    main()
