"""SentencePiece models and their tokenizer, computed by the package ``sentencepiece``."""

import io
import os
from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np

from msnb._util.atomic_file import writing
from msnb.common.kinds import check, checked
from msnb.common.progress import follow
from msnb.dataset.core.kinds import Text, UInt32, list_of, of_type
from msnb.dataset.core.optional import need
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.text._tokens import decode_utf8, scalar_bytes
from msnb.dataset.text.choices import SentencePieceModel, SPieceTokenizerOutType
from msnb.formats import text_files
from msnb.formats.text_files import BadFileError, check_encoding


def _import_sentencepiece():
    return need("sentencepiece", "SentencePiece", "text")


class SentencePieceVocab:
    """A SentencePiece model. Create it with one of the ``from_`` methods.

    Examples:
        >>> from mindspore.dataset.text import SentencePieceVocab, SentencePieceModel
        >>> vocab = SentencePieceVocab.from_file(["botchan.txt"], 5000, 0.9995, SentencePieceModel.UNIGRAM, {})
    """

    def __init__(self):
        self.model = b""

    @classmethod
    @checked
    def from_dataset(
        cls,
        dataset: Dataset,
        col_names: Annotated[Sequence[str], list_of(str)] | None,
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[Any, Any],
    ) -> Self:
        """Train a model on the string columns of a data set.

        Args:
            dataset (Dataset): Source of the sentences.
            col_names (list[str]): Columns to read; [] for all.
            vocab_size (int): Number of pieces of the model.
            character_coverage (float): Fraction of characters that the model covers.
            model_type (SentencePieceModel): Kind of model.
            params (dict): Further options of SentencePiece's trainer.

        Returns:
            SentencePieceVocab.
        """
        if vocab_size is None:
            raise TypeError("vocab_size must be provided.")
        _check_training_options(vocab_size, character_coverage, model_type, params)
        return model_from_dataset(dataset, col_names, vocab_size, character_coverage, model_type, params)

    @classmethod
    @checked
    def from_file(
        cls,
        file_path: Annotated[list, of_type(list)],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[Any, Any],
        *,
        encoding: str = "utf-8",
    ) -> Self:
        """Train a model on text files.

        Args:
            file_path (list[str]): The files.
            vocab_size (int): Number of pieces of the model.
            character_coverage (float): Fraction of characters that the model covers.
            model_type (SentencePieceModel): Kind of model.
            params (dict): Further options of SentencePiece's trainer.
            encoding (str, optional): Encoding of the files, such as 'gbk'. Default: 'utf-8'.

        Returns:
            SentencePieceVocab.

        Raises:
            TypeError: If an argument has the wrong type.
            RuntimeError: If a file cannot be read, is not in this encoding, or the training fails.
        """
        check_encoding(encoding)
        _check_training_options(vocab_size, character_coverage, model_type, params)

        def lines():
            for path in file_path:
                yield from (line.rstrip("\n") for line in text_files.lines(path, encoding, choosable=True))

        return _train_model(lines(), vocab_size, character_coverage, model_type, params)

    @classmethod
    @checked
    def save_model(cls, vocab: Any, path: Text, filename: Text) -> None:
        """Write a model to a file in SentencePiece's format.

        Args:
            vocab (SentencePieceVocab): The model.
            path (str): Folder.
            filename (str): File.
        """
        of_type(SentencePieceVocab)(vocab, "vocab")
        if not os.path.isdir(path):
            raise RuntimeError(f"SaveModel: {path} is not a folder.")
        with writing(os.path.join(path, filename)) as file:
            file.write(vocab.model)


def _check_training_options(vocab_size, character_coverage, model_type, params):
    """Check the options of a training. Each may be None."""
    if vocab_size is not None:
        check(UInt32, vocab_size, "vocab_size", "SentencePieceVocab")
    for name, option, *kinds in (
        ("character_coverage", character_coverage, float),
        ("model_type", model_type, str, SentencePieceModel),
        ("params", params, dict),
    ):
        if option is not None:
            of_type(*kinds)(option, name)


def _train_model(sentences, vocab_size, character_coverage, model_type, params):
    kind = model_type.lower() if isinstance(model_type, str) else SentencePieceModel(model_type).name.lower()
    buffer = io.BytesIO()
    options = dict(params or {})
    try:
        _import_sentencepiece().SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=buffer,
            vocab_size=vocab_size,
            character_coverage=character_coverage,
            model_type=kind,
            minloglevel=2,
            **options,
        )
    except BadFileError:
        raise
    except (RuntimeError, OSError) as error:
        raise RuntimeError(f"SentencePiece could not train a model: {error}") from None
    vocab = SentencePieceVocab()
    vocab.model = buffer.getvalue()
    return vocab


def model_from_dataset(
    dataset: Dataset, columns: Any, vocab_size: int, character_coverage: float, model_type: Any, params: dict[Any, Any]
) -> Any:
    """Train a model. See :meth:`SentencePieceVocab.from_dataset`."""
    names = columns or dataset.get_col_names()

    def sentences():
        rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
        for row in follow(rows, "reading sentences"):
            for name in names:
                if name not in row:
                    raise RuntimeError(f"Invalid parameter, column name: {name} does not exist.")
                yield from (decode_utf8(v) for v in np.atleast_1d(row[name]).tolist())

    return _train_model(sentences(), vocab_size, character_coverage, model_type, params)


@fluent
def build_sentencepiece_vocab(
    self: Dataset,
    columns: list[str] | None,
    vocab_size: int,
    character_coverage: float,
    model_type: SentencePieceModel,
    params: dict | None,
) -> SentencePieceVocab:
    """Train a SentencePiece model on string columns. See :meth:`text.SentencePieceVocab.from_dataset`."""
    return model_from_dataset(self, columns, vocab_size, character_coverage, model_type, params)


class SentencePieceTokenizer(TensorOp):
    """Split a scalar string into pieces of a SentencePiece model.

    Args:
        mode (Union[str, SentencePieceVocab]): Path of a model, or a model.
        out_type (SPieceTokenizerOutType): Output type, strings or ids.

    Raises:
        TypeError: If an argument has the wrong type.
        RuntimeError: If the model cannot be read.
    """

    @checked
    def __init__(
        self,
        mode: Annotated[str | SentencePieceVocab, of_type(str, SentencePieceVocab)],
        out_type: Annotated[SPieceTokenizerOutType, of_type(SPieceTokenizerOutType)],
    ):
        self.mode = mode
        self.out_type = out_type
        self._model = None
        if isinstance(mode, str) and not os.path.isfile(mode):
            raise RuntimeError(f"SentencePieceTokenizer: load sentence piece model failed: there is no file {mode!r}.")

    def _load_processor(self):
        if self._model is None:
            model, description = self.mode, "the model"
            if isinstance(model, str):
                description = repr(model)
                with open(model, "rb") as file:
                    model = file.read()
            else:
                model = model.model
            try:
                self._model = _import_sentencepiece().SentencePieceProcessor(model_proto=model)
            except RuntimeError as error:
                raise BadFileError(
                    f"SentencePieceTokenizer: load sentence piece model failed: {description} is no model of "
                    f"SentencePiece's, or a damaged one: {error}"
                ) from None
        return self._model

    def _transform_row(self, array):
        text = decode_utf8(scalar_bytes(array, "SentencePieceTokenizer"))
        if self.out_type == SPieceTokenizerOutType.INT:
            return np.array(self._load_processor().encode(text, out_type=int), np.int32)
        return np.array([p.encode("utf-8") for p in self._load_processor().encode(text, out_type=str)] or [b""])

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_model": None}
