"""Sharing of a graph among processes: a server process holds it and answers the requests of clients.

A message is its length (4 bytes, big endian) and a JSON text. Arrays are encoded as base64. Nothing that comes over the
network is executed.
"""

import base64
import functools
import json
import os
import socket
import socketserver
import struct
import threading
import time
from typing import Any

import numpy as np

METHODS = (
    "get_all_nodes",
    "get_all_edges",
    "get_nodes_from_edges",
    "get_all_neighbors",
    "get_sampled_neighbors",
    "get_neg_sampled_neighbors",
    "get_node_feature",
    "get_edge_feature",
    "graph_info",
    "random_walk",
)
PATIENCE = 10.0  # seconds that a client waits for a server to come up
_LENGTH = struct.Struct(">I")
_ERRORS = {kind.__name__: kind for kind in (RuntimeError, TypeError, ValueError)}


def _encode_for_json(value):
    """Convert the value to types that JSON has."""
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": data, "dtype": value.dtype.str, "shape": value.shape}
    if isinstance(value, dict):  # JSON's keys are strings, but those of graph_info are numbers
        return {"items": [[_encode_for_json(k), _encode_for_json(v)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return [_encode_for_json(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _decode_json_object(value):
    if "items" in value:
        return dict(value["items"])
    flat = np.frombuffer(base64.b64decode(value["array"]), np.dtype(value["dtype"]))
    return flat.reshape(value["shape"]).copy()


def _send_message(stream, message):
    data = json.dumps(_encode_for_json(message)).encode("utf-8")
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive_message(stream):
    """Return the next message, or None if the connection is closed."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return json.loads(data, object_hook=_decode_json_object) if len(data) == length else None


class _Handler(socketserver.StreamRequestHandler):
    """Answers the requests of one client until it disconnects."""

    def handle(self):
        try:
            while (message := _receive_message(self.rfile)) is not None:
                _send_message(self.wfile, self.server.answer(*message))
        except ConnectionError:
            pass  # a client that ended without closing its connection

    def finish(self):
        try:
            super().finish()
        except ConnectionError:
            pass
        self.server.client_left()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, graph, address, clients):
        super().__init__(address, _Handler)
        self._graph = graph
        self._lock = threading.Lock()  # samples are drawn from one random stream
        self._clients = clients

    def answer(self, method, args, kwargs):
        """Call a method of the graph. Return [True, result], or [False, name of the error type, message]."""
        try:
            if method not in METHODS:
                raise ValueError(f"A graph has no method {method!r}.")
            with self._lock:
                return [True, getattr(self._graph, method)(*args, **kwargs)]
        except Exception as error:
            return [False, type(error).__name__, str(error)]

    def client_left(self):
        """Stop the server after the last expected client."""
        with self._lock:
            if self._clients is not None:
                self._clients -= 1
                if self._clients == 0:
                    threading.Thread(target=self.shutdown, daemon=True).start()


def serve(graph: Any, hostname: str, port: int, num_client: int, auto_shutdown: bool) -> None:
    """Serve `graph` to clients, for ever or, with `auto_shutdown`, until `num_client` of them have disconnected.

    Raises:
        RuntimeError: If the port is not available.
    """
    try:
        server = _Server(graph, (hostname, port), num_client if auto_shutdown else None)
    except OSError as error:
        raise RuntimeError(f"The graph cannot be served at {hostname}:{port}: {error.strerror}.") from None
    with server:
        server.serve_forever(poll_interval=0.05)


class Client:
    """Sends requests to a server. It can be used from several threads, and from processes forked later."""

    def __init__(self, hostname: str, port: int) -> None:
        self._address = hostname, port
        self._lock = threading.Lock()
        self._pid = None
        self._open_connection()

    def _open_connection(self):
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._socket = socket.create_connection(self._address)
                break
            except OSError as error:
                if time.monotonic() > until:
                    host, port = self._address
                    raise RuntimeError(
                        f"There is no graph server at {host}:{port} ({error.strerror}). Start one first, in another "
                        "process: GraphData(file, working_mode='server', hostname=..., port=...)."
                    ) from None
                time.sleep(0.1)
        self._stream = self._socket.makefile("rwb")
        self._pid = os.getpid()

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Return the method's result on the server, or raise the server's error."""
        with self._lock:
            if self._pid != os.getpid():  # a forked process must not share the connection
                self._open_connection()
            _send_message(self._stream, [method, args, kwargs])
            answer = _receive_message(self._stream)
        if answer is None:
            raise RuntimeError("The graph server has gone away.")
        if answer[0]:
            return answer[1]
        kind, text = answer[1:]
        raise _ERRORS[kind](text) if kind in _ERRORS else RuntimeError(f"{kind}: {text}")

    def replace_methods(self, graph: Any) -> None:
        """Replace the methods of `graph` by requests to the server."""
        for name in METHODS:
            setattr(graph, name, functools.partial(self.call, name))

    def close(self) -> None:
        """Disconnect from the server."""
        self._stream.close()
        self._socket.close()
