"""A FastAPI application with codemode inside: `uvicorn app:app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from pydantic import BaseModel

from codemode import CodeMode


class Search(BaseModel):
    """One query for each step of a plan."""

    queries: list[str]


class Program(BaseModel):
    """The Python program that the model wrote."""

    code: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Read the sources before the first request, and end the sandbox after the last."""
    async with CodeMode.from_config("codemode.yaml") as cm:
        app.state.codemode = cm
        yield


def codemode_of(request: Request) -> CodeMode:
    """Return the service that `lifespan` opened."""
    cm: CodeMode = request.app.state.codemode
    return cm


app = FastAPI(title="Front desk", lifespan=lifespan)
Service = Annotated[CodeMode, Depends(codemode_of)]


@app.get("/definitions")
async def definitions(cm: Service) -> list[dict[str, Any]]:
    """Return the two function definitions to send to the model."""
    return await cm.definitions()


@app.post("/search")
async def search(body: Search, cm: Service) -> dict[str, Any]:
    """Find tools; `text` is what the model reads."""
    answer = await cm.search(body.queries)
    return {"text": answer.text, "total": answer.total}


@app.post("/execute")
async def execute(program: Program, cm: Service) -> dict[str, Any]:
    """Run a program. A failed program is an outcome as well, so the status stays 200."""
    outcome = await cm.execute(program.code)
    failure = outcome.failure.message if outcome.failure else None
    calls = [{"tool": call.tool, "state": call.state} for call in outcome.calls]
    return {"status": outcome.status, "value": outcome.value, "failure": failure, "calls": calls}
