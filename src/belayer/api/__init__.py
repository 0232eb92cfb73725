"""A person at a browser, or a program: REST, WebSocket, SSE, MCP. Parses, asks the engine, answers; decides nothing."""
