"""Common networks with MindSpore's names of Parameters, and their weights from PyTorch's files.

net = msnb.model_zoo.resnet50(num_classes=10)
net = msnb.model_zoo.load("efficientnet_lite0", pretrained=True)
msnb.load_weights(msnb.model_zoo.mobilenet_v2(), "mobilenet_v2-7ebf99e0.pth")
"""

from msnb.model_zoo import hub
from msnb.model_zoo._load import list_networks, load
from msnb.model_zoo.networks.alexnet import AlexNet, alexnet
from msnb.model_zoo.networks.bert import Bert, bert_base, bert_large
from msnb.model_zoo.networks.efficientnet import EfficientNetLite, efficientnet_lite0
from msnb.model_zoo.networks.googlenet import GoogLeNet, googlenet
from msnb.model_zoo.networks.gpt import Gpt, gpt2
from msnb.model_zoo.networks.lenet import LeNet5, lenet5
from msnb.model_zoo.networks.mobilenet_v2 import MobileNetV2, mobilenet_v2
from msnb.model_zoo.networks.mobilenet_v3 import MobileNetV3, mobilenet_v3_large, mobilenet_v3_small
from msnb.model_zoo.networks.resnet import ResNet, resnet18, resnet34, resnet50, resnet101, resnet152
from msnb.model_zoo.networks.transformer import Transformer, transformer
from msnb.model_zoo.networks.vgg import Vgg, vgg11, vgg13, vgg16, vgg19
