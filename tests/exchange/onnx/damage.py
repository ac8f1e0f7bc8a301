"""Damaged files of protocol buffers: bytes that changed, and whole messages that say something else."""

from msnb.formats import protobuf

_NUMBERS = (0, -1, 1, 2, 1 << 40, -(1 << 62))


def mutated(data, rng, schema):
    """A file with a few bytes changed, left out or doubled, or with messages of `schema` that say something else."""
    if rng.random() < 0.5:
        return rearranged(data, rng, schema)
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(data)), rng.randint(1, 40)
        kind = rng.random()
        if kind < 0.6:
            data[at] = rng.randrange(256)
        elif kind < 0.75:
            del data[at : at + length]
        elif kind < 0.9:
            data[at:at] = data[at : at + length]
        else:
            del data[at:]
        if not data:
            return b"\0"
    return bytes(data)


def rearranged(data, rng, schema):
    """A file whose messages are whole, and say something else in a few places."""
    model = protobuf.decode(schema, "Model", memoryview(data))
    places, texts, todo = [], [], [model]
    while todo:
        part = todo.pop()
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            places.append((part, key))
            if isinstance(value, (dict, list)):
                todo.append(value)
            elif isinstance(value, str):
                texts.append(value)
    for _ in range(rng.randint(1, 3)):
        part, key = rng.choice(places)
        value = part.get(key) if isinstance(part, dict) else part[key] if key < len(part) else None
        if isinstance(value, int):
            part[key] = rng.choice([*_NUMBERS, value + 1])
        elif isinstance(value, str):
            part[key] = rng.choice(texts)
        elif isinstance(value, list) and value:
            value[:] = rng.choice([value[:-1], value[::-1], value + value, value[1:]])
        elif isinstance(value, dict) and value:
            del value[rng.choice(list(value))]
    return protobuf.encode(schema, "Model", model)
