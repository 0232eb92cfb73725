"""The parts of the browser tools."""
