"""MindSpore's event files (``..._MS``), which record a training step by step.

Each record is an Event: a time, a step, and the version of the file, a graph (:mod:`msnb.formats.summary_graphs`) or
named values: numbers, pictures, arrays and histograms. The steps of a training usually write the same tags. The decoder
remembers the layout of such an event. It reads later events with this layout in a few microseconds.
"""

import functools
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats import protobuf
from msnb.formats.event_records import records
from msnb.formats.summary_graphs import SCHEMA as GRAPHS
from msnb.formats.summary_graphs import Graph, graph_from, graph_message
from msnb.formats.summary_tensors import PACKED, array_from, tensor_message
from msnb.formats.text_files import BadFileError

VERSION = "MindSpore.Event:1"
_MIN_REMEMBERED = 4  # a layout with fewer scalars is not remembered

_SCHEMA = {
    **GRAPHS,
    "Event": {
        "wall_time": (1, "double", False),
        "step": (2, "int", False),
        "version": (3, "str", False),
        "graph_def": (4, "GraphProto", False),
        "summary": (5, "Summary", False),
        "explain": (6, "bytes", False),
    },
    "Summary": {"value": (1, "Value", True)},
    "Value": {
        "tag": (1, "str", False),
        "scalar_value": (3, "float", False),
        "image": (4, "Image", False),
        "tensor": (8, "TensorProto", False),
        "histogram": (9, "Histogram", False),
        "loss_landscape": (10, "bytes", False),
    },
    "Image": {
        "height": (1, "int", False),
        "width": (2, "int", False),
        "colorspace": (3, "int", False),
        "encoded_image": (4, "bytes", False),
    },
    "Histogram": {
        "buckets": (1, "Bucket", True),
        "nan_count": (2, "int", False),
        "pos_inf_count": (3, "int", False),
        "neg_inf_count": (4, "int", False),
        "max": (5, "double", False),
        "min": (6, "double", False),
        "sum": (7, "double", False),
        "count": (8, "int", False),
    },
    "Bucket": {"left": (1, "double", False), "width": (2, "double", False), "count": (3, "int", False)},
}
_KINDS = {4: "image", 8: "tensor", 9: "histogram", 10: "landscape"}


@dataclass(frozen=True, slots=True)
class Image:
    """Image: height, width, colour space (1 grey, 3 RGB, 4 RGBA), and the bytes of a PNG file."""

    height: int
    width: int
    colorspace: int
    png: bytes


@dataclass(frozen=True, eq=False)
class Histogram:
    """Histogram of an array: `counts` (int64[b]) of the numbers between the `edges` (float64[b + 1]).

    `min`, `max` and `sum` are those of the finite numbers, and `count` is the number of all elements. Without finite
    numbers there are no buckets.
    """

    edges: np.ndarray
    counts: np.ndarray
    min: float
    max: float
    sum: float
    count: int
    nan_count: int = 0
    pos_inf_count: int = 0
    neg_inf_count: int = 0


@dataclass(frozen=True, eq=False)
class Value:
    """Tagged value of an event: `kind` is "image", "tensor", "histogram" or "landscape".

    `content` is an Image, an array, a Histogram, or the bytes of a landscape. It is decoded on access.

    Raises:
        BadFileError: From `content`, if its bytes are damaged.
    """

    tag: str
    kind: str
    body: bytes
    place: str = "a value"

    @cached_property
    def content(self) -> Any:
        try:
            return _DECODERS[self.kind](self.body)
        except _DAMAGE as error:
            raise _make_damage_error(f"the {self.kind} {self.tag!r} in {self.place}", error) from None


@dataclass(frozen=True, eq=False)
class Event:
    """One record of an event file.

    Attributes:
        wall_time (float): UNIX seconds.
        step (int): Step of the training, 0 if unset.
        tags (tuple[str]): Tags of the scalars.
        scalars (numpy.ndarray): Their values, float32, as many as tags.
        values (tuple[Value]): The other values.
        version (str): "MindSpore.Event:1" at the beginning of a file.
        graph_body (bytes): Bytes of a graph; `graph` decodes them.
        explain (bytes): Message of MindSpore's explainer (:mod:`msnb.formats.explanation_records` decodes it).
    """

    wall_time: float
    step: int = 0
    tags: tuple[str, ...] = ()
    scalars: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    values: tuple[Value, ...] = ()
    version: str | None = None
    graph_body: bytes | None = None
    explain: bytes | None = None
    place: str = "an event"

    @cached_property
    def graph(self) -> Graph | None:
        """Return the decoded graph, or None. Raises BadFileError if its bytes are damaged."""
        if self.graph_body is None:
            return None
        try:
            return graph_from(protobuf.decode(_SCHEMA, "GraphProto", self.graph_body))
        except _DAMAGE as error:
            raise _make_damage_error(f"the graph in {self.place}", error) from None


_DAMAGE = (protobuf.WireError, IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error)


def _make_damage_error(label, error):
    return BadFileError(f"{label[:1].upper() + label[1:]} is damaged: {error}.")


class EventDecoder:
    """Decodes the records of one event file to Events. It remembers the layouts of recent events.

    Args:
        path (str): The file, for error messages. Default: "an event file".
    """

    def __init__(self, path: str | Path = "an event file"):
        self.place = os.fspath(path)
        self._layouts: dict[int, _Layout] = {}

    def __call__(self, payload: bytes) -> Event:
        """Decode the payload of a record to an Event.

        Raises:
            BadFileError: If the bytes are damaged.
        """
        try:
            return self._decode_event(payload)
        except _DAMAGE as error:
            raise _make_damage_error(f"an event in {self.place!r}", error) from None

    def _decode_event(self, payload):
        fields: dict[str, Any] = {"wall_time": 0.0, "place": self.place}
        for number, wire_type, value in protobuf.fields(payload):
            if (number, wire_type) == (1, protobuf.FIXED64):
                (fields["wall_time"],) = struct.unpack("<d", value)
            elif (number, wire_type) == (2, protobuf.VARINT):
                fields["step"] = protobuf.signed(value)
            elif wire_type == protobuf.LENGTH and number == 3:
                fields["version"] = payload[slice(*value)].decode("utf-8", "replace")
            elif wire_type == protobuf.LENGTH and number == 4:
                fields["graph_body"] = payload[slice(*value)]
            elif wire_type == protobuf.LENGTH and number == 5:
                fields["tags"], fields["scalars"], fields["values"] = self._decode_summary(payload, *value)
            elif wire_type == protobuf.LENGTH and number == 6:
                fields["explain"] = payload[slice(*value)]
            elif number <= 6:
                raise protobuf.WireError(f"field {number} has the wire type {wire_type}")
        return Event(**fields)

    def _decode_summary(self, payload, start, end):
        octets = np.frombuffer(payload, np.uint8, end - start, start)
        layout = self._layouts.get(end - start)
        if layout is not None and (scalars := layout.read(octets)) is not None:
            return layout.tags, scalars, ()
        tags, numbers, values, regular = [], [], [], True
        for number, wire_type, span in protobuf.fields(payload, start, end):
            if (number, wire_type) != (1, protobuf.LENGTH):
                raise protobuf.WireError(f"field {number} of a summary has the wire type {wire_type}")
            tag, behind, scalar, value = self._decode_value(payload, *span)
            if value is not None:
                values.append(value)
            elif scalar is not None:
                tags.append(tag)
                numbers.append(scalar)
                regular &= behind == span[1] - 5  # the usual encoding is a tag, a key of one byte, and a number
        scalars = np.frombuffer(b"".join(numbers), "<f4").astype(np.float32)
        if len(tags) >= _MIN_REMEMBERED and not values and regular:
            self._remember_layout(octets, tuple(tags))
        return tuple(tags), scalars, tuple(values)

    def _decode_value(self, payload, start, end):
        """Decode a value. Return (tag, position after the tag, bytes of a scalar, other Value).

        At least one of the last two is None.
        """
        tag, behind, scalar, content = "", start, None, None
        for number, wire_type, value in protobuf.fields(payload, start, end):
            if (number, wire_type) == (1, protobuf.LENGTH):
                tag, behind = payload[slice(*value)].decode("utf-8", "replace"), value[1]
            elif (number, wire_type) == (3, protobuf.FIXED32):
                scalar, content = value, None
            elif wire_type == protobuf.LENGTH and number in _KINDS:
                scalar, content = None, (_KINDS[number], payload[slice(*value)])
            elif number in (1, 3, *_KINDS):
                raise protobuf.WireError(f"field {number} of a value has the wire type {wire_type}")
        return tag, behind, scalar, content and Value(tag, *content, self.place)

    def _remember_layout(self, octets, tags):
        if len(self._layouts) >= 64:
            self._layouts.pop(next(iter(self._layouts)))
        self._layouts[len(octets)] = _Layout(octets, tags)


class _Layout:
    """Positions of the numbers in a summary that contains only scalars. Later summaries with the same tags are read
    without parsing.
    """

    def __init__(self, octets, tags):
        self.tags = tags
        payload = octets.tobytes()
        ends = [span[1] for _, _, span in protobuf.fields(payload)]
        self._places = (np.array(ends)[:, None] + np.arange(-4, 0)).ravel()
        self._is_fixed = np.ones(len(octets), bool)
        self._is_fixed[self._places] = False
        self._fixed_bytes = octets[self._is_fixed].tobytes()

    def read(self, octets):
        """Return the scalars of a summary as float32, or None if anything else in it differs from the remembered
        summary."""
        if octets[self._is_fixed].tobytes() != self._fixed_bytes:
            return None
        return octets[self._places].view("<f4").astype(np.float32)


def events(path: str | Path, start: int = 0, decoder: EventDecoder | None = None) -> Iterator[tuple[Event, int]]:
    """Yield (Event, position of the next record) of the complete records of a file.

    Args:
        path (str): The file.
        start (int): Position to start from. Default: 0.
        decoder (EventDecoder): The decoder that has read the file up to `start`. Default: None, a new decoder.

    Raises:
        OSError: If the file cannot be opened or read.
        BadFileError: If it is damaged. The events before the damage are yielded first.
    """
    decoder = decoder or EventDecoder(path)
    for payload, behind in records(path, start):
        yield decoder(payload), behind


def _decode_image(body):
    fields = protobuf.decode(_SCHEMA, "Image", body)
    return Image(fields["height"], fields["width"], fields["colorspace"], fields["encoded_image"])


def _decode_histogram(body):
    fields = protobuf.decode(_SCHEMA, "Histogram", body)
    buckets = fields.pop("buckets", [])
    left = np.array([bucket["left"] for bucket in buckets], np.float64)
    last = [buckets[-1]["left"] + buckets[-1]["width"]] if buckets else []
    counts = np.array([bucket["count"] for bucket in buckets], np.int64)
    zero = {"min": 0.0, "max": 0.0, "sum": 0.0, "count": int(counts.sum())}
    return Histogram(edges=np.append(left, last), counts=counts, **{**zero, **fields})


_DECODERS = {
    "image": _decode_image,
    "tensor": lambda body: array_from(protobuf.decode(_SCHEMA, "TensorProto", body)),
    "histogram": _decode_histogram,
    "landscape": bytes,
}


def version_event(wall_time: float) -> bytes:
    """Encode the version event with which a file begins. Return its payload."""
    return protobuf.encode(_SCHEMA, "Event", {"wall_time": wall_time, "version": VERSION})


def graph_event(wall_time: float, graph: Graph | bytes) -> bytes:
    """Encode an event with a graph, or with the bytes of a GraphProto. Return its payload."""
    if not isinstance(graph, bytes):
        graph = protobuf.encode(_SCHEMA, "GraphProto", graph_message(graph))
    header = protobuf.encode(_SCHEMA, "Event", {"wall_time": wall_time})
    return header + protobuf.key(4, protobuf.LENGTH) + protobuf.varint(len(graph)) + graph


def explain_event(wall_time: float, explain: bytes) -> bytes:
    """Encode an event with a message of :mod:`msnb.formats.explanation_records`. Return its payload."""
    return protobuf.encode(_SCHEMA, "Event", {"wall_time": wall_time, "explain": explain})


def summary_event(wall_time: float, step: int, values: Iterable[tuple[str, str, Any]]) -> bytes:
    """Encode an event with the values of one step. Return its payload.

    Args:
        wall_time (float): UNIX seconds.
        step (int): The step.
        values (Iterable[tuple]): (tag, kind, content): kind "scalar" and a number, "image" and an Image, "tensor"
            and an array, "histogram" and a Histogram, or "landscape" and bytes.
    """
    values, out = list(values), []
    buckets = iter(_encode_buckets([content for _, kind, content in values if kind == "histogram"]))
    for tag, kind, content in values:
        name = tag.encode()
        encoded = _encode_histogram(content, next(buckets)) if kind == "histogram" else _ENCODERS[kind](content)
        body = b"\x0a" + protobuf.varint(len(name)) + name + encoded
        out.append(b"\x0a" + protobuf.varint(len(body)) + body)
    summary = b"".join(out)
    header = b"\x09" + struct.pack("<d", wall_time) + b"\x10" + protobuf.varint(step)
    return header + b"\x2a" + protobuf.varint(len(summary)) + summary


def _encode_scalar(number):
    try:
        return b"\x1d" + struct.pack("<f", number)
    except OverflowError:  # the number becomes infinity, as in a conversion to float32
        return b"\x1d" + struct.pack("<f", np.copysign(np.inf, number))


def _encode_image(image):
    table = {"height": image.height, "width": image.width, "colorspace": image.colorspace, "encoded_image": image.png}
    return protobuf.encode(_SCHEMA, "Value", {"image": table})


def _encode_histogram(histogram, buckets):
    """Encode a histogram. `buckets` are the encoded bytes of its buckets."""
    varint = protobuf.varint
    special_counts = histogram.nan_count, histogram.pos_inf_count, histogram.neg_inf_count
    ends = _ENDS(0x29, histogram.max, 0x31, histogram.min, 0x39, histogram.sum)
    counts = b"\x10%b\x18%b\x20%b" % tuple(map(varint, special_counts))
    body = buckets + counts + ends + b"\x40" + varint(histogram.count)
    return b"\x4a" + varint(len(body)) + body


_ENDS = struct.Struct("<BdBdBd").pack


def _encode_buckets(histograms):
    """Return the encoded buckets of each histogram. All buckets are encoded together as rows of equal length. Then the
    unused bytes of shorter counts are removed from the rows.
    """
    if not histograms:
        return []
    lefts = np.concatenate([histogram.edges[:-1] for histogram in histograms])
    widths = np.concatenate([np.diff(histogram.edges) for histogram in histograms])
    counts = np.concatenate([histogram.counts for histogram in histograms])
    lengths = np.searchsorted(_LIMITS, counts, side="right") + 1
    longest = int(lengths.max(initial=1))
    rows = np.empty(counts.size, _make_bucket_dtype(longest))
    rows["opened"], rows["left_key"], rows["width_key"], rows["count_key"] = 0x0A, 0x09, 0x11, 0x18
    rows["length"], rows["left"], rows["width"] = lengths + 19, lefts, widths
    positions = np.arange(longest)
    rows["count"] = counts[:, None] >> 7 * positions & 0x7F | (positions < lengths[:, None] - 1) << 7
    octets = rows.view(np.uint8).reshape(counts.size, longest + 21)
    encoded = octets[np.arange(longest + 21) < lengths[:, None] + 21].tobytes()
    behind = np.append(0, np.cumsum(lengths + 21))
    ends = behind[np.cumsum([0, *(histogram.counts.size for histogram in histograms)])].tolist()
    return [encoded[start:end] for start, end in pairwise(ends)]


@functools.cache
def _make_bucket_dtype(longest):
    """Return the structured dtype of an encoded bucket whose count takes `longest` bytes."""
    names = ("opened", "length", "left_key", "left", "width_key", "width", "count_key")
    kinds = ("u1", "u1", "u1", "<f8", "u1", "<f8", "u1")
    return np.dtype([*zip(names, kinds, strict=True), ("count", "u1", (longest,))])


_LIMITS = 1 << 7 * np.arange(1, 9)  # the varint of a count takes one more byte for each limit that the count reaches
_ENCODERS = {
    "scalar": _encode_scalar,
    "image": _encode_image,
    "tensor": lambda array: protobuf.encode({**_SCHEMA, **PACKED}, "Value", {"tensor": tensor_message(array)}),
    "landscape": lambda body: protobuf.encode(_SCHEMA, "Value", {"loss_landscape": body}),
}
