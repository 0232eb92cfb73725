"""What every route may ask for: the engine, the settings, the session that a path names."""

from typing import Annotated

from fastapi import Depends, Path
from starlette.requests import HTTPConnection

from belayer.engine import Engine
from belayer.settings import Settings
from belayer.vocabulary.ids import SessionId


def _engine(connection: HTTPConnection) -> Engine:
    return connection.app.state.engine


def _settings(connection: HTTPConnection) -> Settings:
    return connection.app.state.settings


TheEngine = Annotated[Engine, Depends(_engine)]
TheSettings = Annotated[Settings, Depends(_settings)]


async def _session(
    engine: TheEngine,
    session_id: Annotated[str, Path(max_length=100, description="An id, or how it begins.")],
) -> SessionId:
    return await engine.find(session_id)


TheSession = Annotated[SessionId, Depends(_session)]
