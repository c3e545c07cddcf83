"""A FastAPI application with codemode inside: `uvicorn app:app`."""

from fastapi import FastAPI

import codemode

#: All routes of `codemode serve`. Without keys it answers requests to a loopback address only.
server = codemode.app("codemode.yaml", allow_anybody=True)

app = FastAPI(title="Front desk", lifespan=server.lifespan)
app.mount("/codemode", server)


@app.get("/visitors")
async def visitors() -> int:
    """Return the number of members named John: a program that the application itself runs."""
    outcome = await server.service.execute("len(gym.clients.get_clients_list(name='John'))")
    return int(outcome.raise_for_status().value)
