"""Converter from ImageNet to MindRecord."""

import os

from msnb import log
from msnb.formats import text_files
from msnb.mindrecord.common.exceptions import PathNotExistsError
from msnb.mindrecord.shardutils import check_filename
from msnb.mindrecord.tools._convert import check_partitions, write

__all__ = ["ImageNetToMR"]


class ImageNetToMR:
    """Converts ImageNet folders to MindRecord, with the fields label (int32), image (file bytes) and file_name.

    Args:
        map_file (str): Text file, with a line 'folder number' for each class.
        image_dir (str): Folder of the classes' folders.
        destination (str): Path of the MindRecord file.
        partition_number (int, optional): Number of files. Default: 1.

    Raises:
        ValueError: If an argument has the wrong type.
        IOError: If the map file does not exist.
        PathNotExistsError: If no folder of the map exists.
    """

    def __init__(self, map_file: str, image_dir: str, destination: str, partition_number: int = 1) -> None:
        check_filename(map_file)
        check_filename(image_dir)
        check_filename(destination)
        check_partitions(partition_number)
        self.map_file = map_file
        self.image_dir = image_dir
        self.destination = destination
        self.partition_number = partition_number

    def _list_images(self):
        """Yield the label and the path of each image."""
        if not os.path.exists(self.map_file):
            raise OSError(f"map file {self.map_file} not exists")
        folders = {}
        for line in text_files.lines(self.map_file):
            words = line.split()
            if len(words) >= 2:
                folders[words[1]] = os.path.join(self.image_dir, words[0])
        present = {label: folder for label, folder in folders.items() if os.path.isdir(folder)}
        if not present:
            raise PathNotExistsError(f"not valid image dir in {self.image_dir}")
        for label, folder in present.items():
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if name.endswith(("JPEG", "jpg")):
                    yield label, path
                else:
                    log.warning(f"{path} file is not suffix with JPEG/jpg, skip it.")

    @staticmethod
    def _iterate_rows(files):
        for label, path in files:
            with open(path, "rb") as file:
                data = file.read()
            if not data:
                log.warning(f"The image file: {path} is invalid.")
                continue
            yield {"file_name": path, "label": int(label), "image": data}

    def run(self) -> int:
        """Run the conversion: read the source and write the MindRecord files.

        Returns:
            int, 0.
        """
        kinds = {"label": "int32", "image": "bytes", "file_name": "string"}
        schema = {name: {"type": kind} for name, kind in kinds.items()}
        index = ["label", "file_name"]
        files = list(self._list_images())
        rows = self._iterate_rows(files)
        return write(self.destination, rows, schema, "imagenet_schema", index, self.partition_number, len(files))

    transform = run
