"""A network between clients and a server that can be made slow: a proxy on loopback, which needs no rights."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

PIECE = 2**16


class SlowLink:
    """Passes on what comes to ``port`` to ``target``, and back; every piece ``delay`` seconds late."""

    def __init__(self, port: int, target: int) -> None:
        self.delay = 0.0
        self._port, self._target = port, target
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._up.wait()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(asyncio.start_server(self._join, "127.0.0.1", self._port))
        self._up.set()
        self._loop.run_forever()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: while the server is away it ends at once, as a refused one would."""
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pass(reader, there_writer), self._pass(there_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(PIECE):
                await asyncio.sleep(self.delay)
                writer.write(piece)
                await writer.drain()
        writer.close()
