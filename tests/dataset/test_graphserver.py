"""A graph served by one process and asked by others."""

import socket
import threading

import numpy as np
import pytest

import msnb.dataset as ds
from msnb.dataset.engine import graphserver
from msnb.mindrecord import FileWriter


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """Return a file with five nodes in a ring; feature 1 of a node is its number twice."""
    path = str(tmp_path_factory.mktemp("graph") / "ring")
    writer = FileWriter(path)
    writer.add_schema(
        {
            "first_id": {"type": "int64"},
            "second_id": {"type": "int64"},
            "third_id": {"type": "int64"},
            "type": {"type": "int32"},
            "attribute": {"type": "string"},
            "node_feature_1": {"type": "float32", "shape": [-1]},
            "node_feature_index": {"type": "int32", "shape": [-1]},
        }
    )

    def row(attribute, first, second, third):
        feature = {"node_feature_1": np.full(2, first, np.float32), "node_feature_index": np.array([1], np.int32)}
        return {"first_id": first, "second_id": second, "third_id": third, "type": 0, "attribute": attribute, **feature}

    nodes = [row("n", i, 0, 0) for i in range(1, 6)]
    writer.write_raw_data(nodes + [row("e", i, i, i % 5 + 1) for i in range(1, 6)])
    writer.commit()
    return path


@pytest.fixture
def server(ring):
    """Return (file, port, thread) of a server that awaits two clients."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"working_mode": "server", "port": port, "num_client": 2}
    thread = threading.Thread(target=ds.GraphData, args=(ring, 1), kwargs=options, daemon=True)
    thread.start()
    return ring, port, thread


def test_clients_get_the_content_of_the_file_and_the_server_ends_with_the_last_one(server):
    file, port, thread = server
    local = ds.GraphData(file)
    clients = [ds.GraphData(file, working_mode="client", port=port) for _ in range(2)]
    for graph in clients:
        nodes = graph.get_all_nodes(0)
        assert np.array_equal(nodes, local.get_all_nodes(0)) and nodes.dtype == np.int32
        for got, expected in zip(graph.get_node_feature(nodes, [1]), local.get_node_feature(nodes, [1]), strict=True):
            assert np.array_equal(got, expected) and got.dtype == expected.dtype
        assert np.array_equal(graph.get_all_neighbors(nodes, 0), local.get_all_neighbors(nodes, 0))
        assert graph.graph_info() == local.graph_info()
        assert graph.get_sampled_neighbors(node_list=nodes, neighbor_nums=[2], neighbor_types=[0]).shape == (5, 3)
    clients[0]._client.close()
    thread.join(0.3)
    assert thread.is_alive()
    clients[1]._client.close()
    thread.join(60)
    assert not thread.is_alive()


def test_errors_of_the_server_are_raised_by_the_client(server):
    file, port, _ = server
    graph = ds.GraphData(file, working_mode="client", port=port)
    with pytest.raises(RuntimeError, match="Invalid node type: 7"):
        graph.get_all_nodes(7)
    with pytest.raises(TypeError, match="node_type"):
        graph.get_all_nodes("1")
    with pytest.raises(ValueError, match="no method '__init__'"):
        graph._client.call("__init__", "other")
    assert len(graph.get_all_nodes(0)) == 5  # and the connection lives on


def test_a_client_without_a_server_says_how_to_start_one(ring, monkeypatch):
    monkeypatch.setattr(graphserver, "PATIENCE", 0.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(RuntimeError, match=rf"no graph server at 127.0.0.1:{port}.*working_mode='server'"):
            ds.GraphData(ring, working_mode="client", port=port)
