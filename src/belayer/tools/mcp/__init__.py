"""The parts of the MCP client."""
