"""What the converters share."""

from itertools import islice

from msnb.mindrecord.filewriter import FileWriter


def write(path, rows, schema, description, index=None, shards=1):
    """Write rows to a MindRecord file, 256 at a time."""
    writer = FileWriter(path, shards)
    writer.set_page_size(1 << 26)
    writer.add_schema(schema, description)
    if index:
        writer.add_index(index)
    rows = iter(rows)
    while part := list(islice(rows, 256)):
        writer.write_raw_data(part)
    return writer.commit()


def check_partitions(partition_number):
    """ValueError unless it is an int."""
    if not isinstance(partition_number, int) or isinstance(partition_number, bool):
        raise ValueError(f"The parameter partition_number must be int, but got {partition_number!r}.")


def jpeg(image):
    """The bytes of an image as a JPEG; OpenCV's order of colours."""
    try:
        import cv2
    except ImportError:
        raise ModuleNotFoundError("opencv-python module not found, please use pip install it.") from None
    return cv2.imencode(".jpeg", image)[1].tobytes()
