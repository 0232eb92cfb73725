"""The words every other folder uses. Imports nothing of ours."""
