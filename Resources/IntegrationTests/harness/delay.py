# SPDX-License-Identifier: GPL-3.0-or-later
"""A server further away: a proxy on this machine that holds every byte back for a while."""

import asyncio
import os
import selectors
import threading
import time
from contextlib import suppress
from typing import Self

CHUNK = 65536
STOP_SECONDS = 10


class DelayingProxy:
    """Forwards TCP connections from `port` of 127.0.0.1 to another port, with a latency.

    `round_trip` (seconds) may be changed at any time, also for connections that are open. What was
    sent together arrives together: only latency is added, no limit of the rate.
    """

    def __init__(self, target: int, round_trip: float = 0) -> None:
        self.round_trip = round_trip
        self.port = 0
        self._target = target
        # select(2) waits for microseconds, epoll_wait(2) for whole milliseconds
        self._loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS)
        self._loop.close()

    def _run(self) -> None:
        with suppress(PermissionError):  # before all that the machine has to do besides
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        self._loop.run_forever()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        await asyncio.gather(self._forward(reader, back), self._forward(there, writer))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def receive() -> None:
            with suppress(ConnectionError):
                while content := await reader.read(CHUNK):
                    waiting.put_nowait((time.monotonic() + self.round_trip / 2, content))
            waiting.put_nowait((0, b""))

        async def send() -> None:
            with suppress(ConnectionError):
                while True:
                    due, content = await waiting.get()
                    if not content:
                        break
                    await asyncio.sleep(due - time.monotonic())
                    writer.write(content)
                    await writer.drain()
            writer.close()

        await asyncio.gather(receive(), send())
