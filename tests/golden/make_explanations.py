"""An event file of the explainer, with messages that MindSpore's own protobuf classes encode.

    PYTHON tests/golden/make_explanations.py

PYTHON has MindSpore 2.7.
"""

import struct
from pathlib import Path

from mindspore.train.summary_pb2 import Event

HERE = Path(__file__).parent
LABELS = ["cat", "dog", "bird"]


def crc32c(data):
    """Masked CRC-32C, bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(payload):
    """One record of an event file."""
    length = struct.pack("<Q", len(payload))
    return length + crc32c(length) + payload + crc32c(payload)


def events():
    """Yield the events of two samples, in the order of r1.1."""
    event = Event(wall_time=1.5)
    event.explain.metadata.label.extend(LABELS)
    event.explain.metadata.explain_method.extend(["Gradient", "GradCAM"])
    event.explain.metadata.benchmark_method.extend(["Faithfulness", "ClassSensitivity"])
    yield event
    for sample, (truth, predicted) in enumerate([([1], [1]), ([0, 2], [])]):
        event = Event(wall_time=2.5 + sample)
        event.explain.sample_id = sample
        event.explain.image_path = f"_explain_1/origin_images/0/{sample}.jpg"
        yield event
        event = Event(wall_time=2.75 + sample)
        event.explain.sample_id = sample
        event.explain.ground_truth_label.extend(truth)
        event.explain.inference.ground_truth_prob.extend([0.75, 0.25][: len(truth)])
        event.explain.inference.predicted_label.extend(predicted)
        event.explain.inference.predicted_prob.extend([0.75] * len(predicted))
        if not sample:
            event.explain.inference.ground_truth_prob_sd.append(0.125)
            event.explain.inference.ground_truth_prob_itl95_low.append(0.5)
            event.explain.inference.ground_truth_prob_itl95_hi.append(1.0)
            event.explain.inference.predicted_prob_sd.append(0.125)
            event.explain.inference.predicted_prob_itl95_low.append(0.5)
            event.explain.inference.predicted_prob_itl95_hi.append(1.0)
        yield event
    for method, label in (("Gradient", 1), ("GradCAM", 0)):
        event = Event(wall_time=5.5)
        event.explain.sample_id = 1 - label
        row = event.explain.explanation.add()
        row.explain_method, row.label = method, label
        row.heatmap_path = f"_explain_1/heatmap/{method}/0/{1 - label}_{label}.jpg"
        yield event
    event = Event(wall_time=6.5)
    for bench, scores in (("Faithfulness", [0.5, float("nan"), 0.25]), ("ClassSensitivity", [])):
        row = event.explain.benchmark.add()
        row.benchmark_method, row.explain_method, row.total_score = bench, "Gradient", 0.375
        row.label_score.extend(scores)
    yield event
    yield Event(wall_time=7.5, explain={"status": "end"})


if __name__ == "__main__":
    target = HERE / "summaries" / "events.out.events.summary.1.0.golden_explain"
    target.write_bytes(b"".join(frame(event.SerializeToString()) for event in events()))
