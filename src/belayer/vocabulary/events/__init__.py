"""What can happen in a session, one class each; `catalog` knows them all."""
