"""Mutations of protobuf files: changed bytes, and valid messages with changed contents."""

from msnb.formats import protobuf

_NUMBERS = (0, -1, 1, 2, 1 << 40, -(1 << 62))


def mutate(data, rng, schema):
    """Return a file with a few bytes changed, deleted or duplicated, or with changed messages of `schema`."""
    if rng.random() < 0.5:
        return mutate_messages(data, rng, schema)
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


def mutate_messages(data, rng, schema):
    """Return a file of valid messages with a few changed values."""
    model = protobuf.decode(schema, "Model", memoryview(data))
    locations, texts, todo = [], [], [model]
    while todo:
        message = todo.pop()
        for key, value in message.items() if isinstance(message, dict) else enumerate(message):
            locations.append((message, key))
            if isinstance(value, (dict, list)):
                todo.append(value)
            elif isinstance(value, str):
                texts.append(value)
    for _ in range(rng.randint(1, 3)):
        message, key = rng.choice(locations)
        value = message.get(key) if isinstance(message, dict) else message[key] if key < len(message) else None
        if isinstance(value, int):
            message[key] = rng.choice([*_NUMBERS, value + 1])
        elif isinstance(value, str):
            message[key] = rng.choice(texts)
        elif isinstance(value, list) and value:
            value[:] = rng.choice([value[:-1], value[::-1], value + value, value[1:]])
        elif isinstance(value, dict) and value:
            del value[rng.choice(list(value))]
    return protobuf.encode(schema, "Model", model)
