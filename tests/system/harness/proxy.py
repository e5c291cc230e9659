"""A TCP proxy on loopback that breaks connections: with a reset, or silently."""

import asyncio
import socket
import threading

_PIECE = 1 << 16


class Proxy:
    """Passes bytes between clients and one server until it is told otherwise."""

    def __init__(self, target_port):
        self._target = target_port
        self._loop = asyncio.new_event_loop()
        self._pairs = set()
        self._silent = []
        self.port = 0
        listening = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(listening,), daemon=True)
        self._thread.start()
        listening.wait(10)

    def drop(self):
        """Reset all connections; gives how many there were."""
        return asyncio.run_coroutine_threadsafe(self._drop(), self._loop).result(10)

    def silence(self):
        """Let all present connections stand open and pass nothing more; new ones work. Gives how many."""
        return asyncio.run_coroutine_threadsafe(self._silence(), self._loop).result(10)

    def close(self):
        """Drop everything and end."""
        self.drop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self, listening):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _accept(self, reader, writer):
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            _reset(writer)
            return
        pumps = [
            asyncio.ensure_future(_pump(reader, server_writer)),
            asyncio.ensure_future(_pump(server_reader, writer)),
        ]
        pair = (writer, server_writer, *pumps)
        self._pairs.add(pair)
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        if pair in self._pairs:
            self._pairs.discard(pair)
            _end(pair)

    async def _drop(self):
        pairs, self._pairs = self._pairs, set()
        for pair in [*pairs, *self._silent]:
            _end(pair)
        self._silent = []
        return len(pairs)

    async def _silence(self):
        pairs, self._pairs = self._pairs, set()
        for _, _, *pumps in pairs:
            for pump in pumps:
                pump.cancel()
        self._silent.extend(pairs)
        return len(pairs)


async def _pump(reader, writer):
    try:
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    except OSError:
        # One side is gone, and the other one is told by `_accept`.
        return


def _end(pair):
    writer, server_writer, *pumps = pair
    for pump in pumps:
        pump.cancel()
    for one in (writer, server_writer):
        _reset(one)


def _reset(writer):
    end = writer.get_extra_info("socket")
    if end is not None and end.fileno() >= 0:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()
