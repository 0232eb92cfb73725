"""An MCP server made with the newest library: it offers a sum, and a tool that asks a person. Run as a program."""

from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("modern")


class Seat(BaseModel):
    window: bool


async def which_seat() -> Elicit[Seat]:
    return Elicit("At the window?", Seat)


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def book(city: str, seat: Annotated[Seat, Resolve(which_seat)]) -> str:
    """Book a seat."""
    return f"{city}: {seat.window}"


if __name__ == "__main__":
    server.run("stdio")
