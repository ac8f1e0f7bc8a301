"""SentencePiece: models trained on text, and the tokenizer that uses them. The package ``sentencepiece`` does the
work.
"""

import io
import os

import numpy as np

from msnb._atomic import writing
from msnb.dataset.core.optional import need
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.core.validator_helpers import check_uint32, type_check, type_check_list
from msnb.dataset.text._tokens import decoded, scalar_bytes
from msnb.dataset.text.utils import SentencePieceModel, SPieceTokenizerOutType
from msnb.formats import reading
from msnb.formats.reading import BadFileError, check_encoding


def _library():
    return need("sentencepiece", "SentencePiece", "text")


class SentencePieceVocab:
    """A SentencePiece model; made with one of the ``from_`` methods.

    Examples:
        >>> from mindspore.dataset.text import SentencePieceVocab, SentencePieceModel
        >>> vocab = SentencePieceVocab.from_file(["botchan.txt"], 5000, 0.9995, SentencePieceModel.UNIGRAM, {})
    """

    def __init__(self):
        self.model = b""

    @classmethod
    def from_dataset(cls, dataset, col_names, vocab_size, character_coverage, model_type, params):
        """Train a model on the string columns of a data set.

        Args:
            dataset (Dataset): Where the sentences come from.
            col_names (list[str]): Its columns; [] for all.
            vocab_size (int): Pieces of the model.
            character_coverage (float): Share of characters that the model covers.
            model_type (SentencePieceModel): Kind of model.
            params (dict): Further options of SentencePiece's trainer.

        Returns:
            SentencePieceVocab.
        """
        if col_names is not None:
            type_check_list(col_names, (str,), "col_names")
        if vocab_size is None:
            raise TypeError("vocab_size must be provided.")
        _check(vocab_size, character_coverage, model_type, params)
        return model_from_dataset(dataset, col_names, vocab_size, character_coverage, model_type, params)

    @classmethod
    def from_file(cls, file_path, vocab_size, character_coverage, model_type, params, *, encoding="utf-8"):
        """Train a model on text files.

        Args:
            file_path (list[str]): The files.
            vocab_size (int): Pieces of the model.
            character_coverage (float): Share of characters that the model covers.
            model_type (SentencePieceModel): Kind of model.
            params (dict): Further options of SentencePiece's trainer.
            encoding (str, optional): Encoding of the files, such as 'gbk'. Default: 'utf-8'.

        Returns:
            SentencePieceVocab.

        Raises:
            TypeError: If an argument has the wrong type.
            RuntimeError: If a file cannot be read, is not in this encoding, or no model comes of it.
        """
        type_check(file_path, (list,), "file_path")
        check_encoding(encoding)
        _check(vocab_size, character_coverage, model_type, params)

        def lines():
            for path in file_path:
                yield from (line.rstrip("\n") for line in reading.lines(path, encoding, choosable=True))

        return _train(lines(), vocab_size, character_coverage, model_type, params)

    @classmethod
    def save_model(cls, vocab, path, filename):
        """Write a model to a file that SentencePiece reads.

        Args:
            vocab (SentencePieceVocab): The model.
            path (str): Folder.
            filename (str): File.
        """
        type_check(vocab, (SentencePieceVocab,), "vocab")
        type_check(path, (str,), "path")
        type_check(filename, (str,), "filename")
        if not os.path.isdir(path):
            raise RuntimeError(f"SaveModel: {path} is not a folder.")
        with writing(os.path.join(path, filename)) as file:
            file.write(vocab.model)


def _check(vocab_size, character_coverage, model_type, params):
    """The options of a training; each may be None."""
    if vocab_size is not None:
        check_uint32(vocab_size, "vocab_size")
    for name, option, *kinds in (
        ("character_coverage", character_coverage, float),
        ("model_type", model_type, str, SentencePieceModel),
        ("params", params, dict),
    ):
        if option is not None:
            type_check(option, tuple(kinds), name)


def _train(sentences, vocab_size, character_coverage, model_type, params):
    kind = model_type.lower() if isinstance(model_type, str) else SentencePieceModel(model_type).name.lower()
    out = io.BytesIO()
    options = dict(params or {})
    try:
        _library().SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=out,
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
    vocab.model = out.getvalue()
    return vocab


def model_from_dataset(dataset, columns, vocab_size, character_coverage, model_type, params):
    """See :meth:`SentencePieceVocab.from_dataset`."""
    names = columns or dataset.get_col_names()

    def sentences():
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in names:
                if name not in row:
                    raise RuntimeError(f"Invalid parameter, column name: {name} does not exist.")
                yield from (decoded(v) for v in np.atleast_1d(row[name]).tolist())

    return _train(sentences(), vocab_size, character_coverage, model_type, params)


class SentencePieceTokenizer(TensorOp):
    """The pieces of a scalar string.

    Args:
        mode (Union[str, SentencePieceVocab]): Path of a model, or a model.
        out_type (SPieceTokenizerOutType): Whether pieces come as strings or as numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        RuntimeError: If the model cannot be read.
    """

    def __init__(self, mode, out_type):
        type_check(mode, (str, SentencePieceVocab), "mode")
        type_check(out_type, (SPieceTokenizerOutType,), "out_type")
        self.mode = mode
        self.out_type = out_type
        self._model = None
        if isinstance(mode, str) and not os.path.isfile(mode):
            raise RuntimeError(f"SentencePieceTokenizer: load sentence piece model failed: there is no file {mode!r}.")

    def _processor(self):
        if self._model is None:
            model, what = self.mode, "the model"
            if isinstance(model, str):
                what = repr(model)
                with open(model, "rb") as file:
                    model = file.read()
            else:
                model = model.model
            try:
                self._model = _library().SentencePieceProcessor(model_proto=model)
            except RuntimeError as error:
                raise BadFileError(
                    f"SentencePieceTokenizer: load sentence piece model failed: {what} is no model of SentencePiece's, "
                    f"or a damaged one: {error}"
                ) from None
        return self._model

    def _row(self, array):
        text = decoded(scalar_bytes(array, "SentencePieceTokenizer"))
        if self.out_type == SPieceTokenizerOutType.INT:
            return np.array(self._processor().encode(text, out_type=int), np.int32)
        return np.array([p.encode("utf-8") for p in self._processor().encode(text, out_type=str)] or [b""])

    def __getstate__(self):
        return {**super().__getstate__(), "_model": None}
