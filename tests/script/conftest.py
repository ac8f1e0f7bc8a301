"""Put this folder on the path, for the generator of programs."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
