"""``GraphData``: nodes, edges and features of a graph in MindRecord files, with neighbour sampling and random walks."""

from typing import Annotated, Any

import numpy as np

from msnb import log
from msnb.common.kinds import checked
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import INT32_MAX, File, Flag, Int, Text, Workers, list_of, of_type, within
from msnb.dataset.engine.graphserver import Client, serve
from msnb.mindrecord._reader import Records
from msnb.mindrecord.common.exceptions import MindRecordException

_NO_NODE = -1


def _to_int32_array(value, name):
    """Convert a list or int32 array of numbers to an array."""
    if isinstance(value, np.ndarray):
        if value.dtype != np.int32:
            raise TypeError(f"Each member in {name} should be of type int32. Got {value.dtype}.")
    else:
        list_of(int)(of_type(list, np.ndarray)(value, name), name)
    return np.asarray(value, np.int32)


def _to_nested_int32_array(value, name):
    """Convert a list of numbers or of equally long lists, or an int32 array, to an array."""
    of_type(list, np.ndarray)(value, name)
    if isinstance(value, np.ndarray):
        return _to_int32_array(value, name)
    _check_equal_lengths(value, name)
    return np.asarray(value, np.int32)


def _check_equal_lengths(value, name):
    if not value:
        raise TypeError(f"Parameter {name} or its members are empty.")
    if len({isinstance(item, list) for item in value}) > 1:
        raise TypeError(f"The type of each member of the parameter {name} is inconsistent.")
    if isinstance(value[0], list):
        if len({len(item) for item in value}) > 1:
            raise TypeError(f"The size of each member of parameter {name} is inconsistent.")
        for item in value:
            _check_equal_lengths(item, name)
        if len({np.shape(item) for item in value}) > 1:
            raise TypeError(f"The type of each member of the parameter {name} is inconsistent.")
    else:
        for item in value:
            of_type(int)(item, name)


class _Graph:
    """Content of the graph's file: dictionaries of nodes, edges, neighbours and features."""

    def __init__(self, dataset_file):
        try:
            records = Records(dataset_file)
        except MindRecordException as error:
            raise RuntimeError(f"GraphData cannot read {dataset_file!r}: {error.error_msg}") from None
        self.node_type, self.edge_type = {}, {}
        self.node_features, self.edge_features = {}, {}
        self.node_defaults, self.edge_defaults = {}, {}
        self.ends, self.neighbours = {}, {}
        missing = {"first_id", "second_id", "third_id", "attribute", "type"} - set(records.schema)
        if missing:
            raise RuntimeError(f"{dataset_file!r} holds no graph: it has no field {sorted(missing)[0]!r}.")
        rows = [records.row(i) for i in range(len(records))]
        for row in rows:
            if row["attribute"] == "n":
                self.node_type[int(row["first_id"])] = int(row["type"])
                self._add_features(records, row, "node", self.node_features, self.node_defaults)
        for row in rows:
            if row["attribute"] == "e":
                self._add_edge(records, row)
        for by_type in self.neighbours.values():
            for kind, nodes in by_type.items():
                by_type[kind] = np.array(nodes, np.int32)
        self.of_type = {
            kind: np.array([n for n, t in self.node_type.items() if t == kind], np.int32)
            for kind in sorted(set(self.node_type.values()))
        }

    def _add_edge(self, records, row):
        edge, source, target = (int(row[k]) for k in ("first_id", "second_id", "third_id"))
        for node in (source, target):
            if node not in self.node_type:
                raise RuntimeError(f"Edge {edge} ends at node {node}, which the file does not hold.")
        self.edge_type[edge] = int(row["type"])
        self.ends[edge] = (source, target)
        self.neighbours.setdefault(source, {}).setdefault(self.node_type[target], []).append(target)
        self._add_features(records, row, "edge", self.edge_features, self.edge_defaults)

    @staticmethod
    def _add_features(records, row, prefix, features, defaults):
        entity_features = features.setdefault(int(row["first_id"]), {})
        kinds = row.get(f"{prefix}_feature_index")
        if kinds is None:
            return
        for kind in np.asarray(kinds).reshape(-1).tolist():
            name = f"{prefix}_feature_{kind}"
            if name not in row:
                continue
            value = row[name]
            field = records.schema[name]
            if isinstance(value, bytes):
                value = np.frombuffer(value, np.uint8)
            value = np.asarray(value, None if field["type"] in ("bytes", "string") else field["type"])
            # A feature of one number is a scalar, as in MindSpore.
            entity_features[kind] = value.reshape(()) if value.size == 1 else value
            defaults.setdefault(kind, np.zeros_like(entity_features[kind]))


class GraphData:
    """A graph for training, read from MindRecord files.

    Args:
        dataset_file (str): The file.
        num_parallel_workers (int, optional): Number of workers. Default: None.
        working_mode (str, optional): 'local' reads the file here. 'server' reads it and answers clients; the call
            returns after they have disconnected. 'client' sends requests to a server. Default: 'local'.
        hostname (str, optional): Name or address of the host on which the server runs. Default: '127.0.0.1'.
        port (int, optional): Port of the server, 1024 to 65535. Default: 50051.
        num_client (int, optional): Number of clients that the server expects, 1 to 255. Default: 1.
        auto_shutdown (bool, optional): True if the server ends after all clients have disconnected. Default: True.

    Raises:
        ValueError: If the file does not exist or an argument is out of range.
        RuntimeError: If the file contains no graph, the port is not available or no server answers.

    Examples:
        >>> import mindspore.dataset as ds
        >>> graph = ds.GraphData("graph.mindrecord", 2)
        >>> nodes = graph.get_all_nodes(node_type=1)
        >>> features = graph.get_node_feature(node_list=nodes, feature_types=[2, 3])
    """

    @checked
    def __init__(
        self,
        dataset_file: File,
        num_parallel_workers: Workers | None = None,
        working_mode: Text = "local",
        hostname: Text = "127.0.0.1",
        port: Annotated[int, within(1024, 65535, int)] = 50051,
        num_client: Annotated[int, within(1, 255, int)] = 1,
        auto_shutdown: Flag = True,
    ):
        log.unused("GraphData", "a graph is asked by one thread", num_parallel_workers=num_parallel_workers is not None)
        if not 0 < len(hostname) <= 253 or set(hostname) - set("-_.") - set(filter(str.isalnum, hostname)):
            raise ValueError("The hostname is illegal")
        if working_mode not in ("local", "client", "server"):
            raise ValueError("Invalid working mode, please enter 'local', 'client' or 'server'.")
        if working_mode == "client":
            self._client = Client(hostname, port)
            self._client.replace_methods(self)
            return
        self._graph = _Graph(dataset_file)
        self._random = np.random.default_rng(fresh_seed())
        if working_mode == "server":
            serve(self, hostname, port, num_client, auto_shutdown)

    @checked
    def get_all_nodes(self, node_type: Int) -> np.ndarray:
        """Return the ids of all nodes of the type `node_type`.

        Args:
            node_type (int): Type of the nodes.

        Returns:
            numpy.ndarray, int32.

        Raises:
            RuntimeError: If there is no such type.
        """
        return self._get_nodes_of_type(node_type).copy()

    def _get_nodes_of_type(self, kind):
        if kind not in self._graph.of_type:
            raise RuntimeError(f"Invalid node type: {kind}; there are {list(self._graph.of_type)}.")
        return self._graph.of_type[kind]

    @checked
    def get_all_edges(self, edge_type: Int) -> np.ndarray:
        """Return the ids of the edges of a type; see :meth:`get_all_nodes`."""
        edges = [e for e, t in self._graph.edge_type.items() if t == edge_type]
        if not edges:
            raise RuntimeError(
                f"Invalid edge type: {edge_type}; there are {sorted(set(self._graph.edge_type.values()))}."
            )
        return np.array(edges, np.int32)

    def get_nodes_from_edges(self, edge_list: list[Any] | np.ndarray) -> np.ndarray:
        """Return the two nodes of each edge.

        Args:
            edge_list (Union[list, numpy.ndarray]): Ids of edges.

        Returns:
            numpy.ndarray, int32, (edges, 2).

        Raises:
            RuntimeError: If there is no such edge.
        """
        edges = _to_int32_array(edge_list, "edge_list")
        if edges.size == 0:
            raise RuntimeError("Input edge_list is empty.")
        for edge in edges.tolist():
            if edge not in self._graph.ends:
                raise RuntimeError(f"Invalid edge id: {edge}.")
        return np.array([self._graph.ends[e] for e in edges.reshape(-1).tolist()], np.int32)

    def _get_neighbours(self, node, kind):
        if node == _NO_NODE:
            return np.empty(0, np.int32)
        if node not in self._graph.node_type:
            raise RuntimeError(f"Invalid node id: {node}.")
        return self._graph.neighbours.get(node, {}).get(kind, np.empty(0, np.int32))

    @checked
    def get_all_neighbors(self, node_list: list[Any] | np.ndarray, neighbor_type: Int) -> np.ndarray:
        """Return all neighbours of the given nodes that have the type `neighbor_type`.

        Each row contains a node and then its neighbours, padded with -1.

        Args:
            node_list (Union[list, numpy.ndarray]): The nodes.
            neighbor_type (int): Type of the neighbours.

        Returns:
            numpy.ndarray, int32, of shape (nodes, 1 + largest number of neighbours).
        """
        nodes = _to_int32_array(node_list, "node_list")
        if nodes.size == 0:
            raise RuntimeError("Input node_list is empty.")
        self._get_nodes_of_type(neighbor_type)
        neighbours = [self._get_neighbours(n, neighbor_type) for n in nodes.reshape(-1).tolist()]
        result = np.full((len(neighbours), 1 + max(map(len, neighbours))), _NO_NODE, np.int32)
        result[:, 0] = nodes.reshape(-1)
        for row, node_neighbours in zip(result, neighbours, strict=True):
            row[1 : 1 + len(node_neighbours)] = node_neighbours
        return result

    def get_sampled_neighbors(
        self,
        node_list: list[Any] | np.ndarray,
        neighbor_nums: list[Any] | np.ndarray,
        neighbor_types: list[Any] | np.ndarray,
    ) -> np.ndarray:
        """Sample random neighbours, their neighbours and so on, up to 6 hops.

        Args:
            node_list (Union[list, numpy.ndarray]): The nodes.
            neighbor_nums (Union[list, numpy.ndarray]): Number of neighbours to sample per node, for each hop.
            neighbor_types (Union[list, numpy.ndarray]): Type of the neighbours, for each hop.

        Returns:
            numpy.ndarray, int32. Each row contains a node, its n1 neighbours, their n1 * n2 neighbours and so on. -1
            stands for a missing neighbour.
        """
        nodes = _to_int32_array(node_list, "node_list")
        nums, kinds = _to_int32_array(neighbor_nums, "neighbor_nums"), _to_int32_array(neighbor_types, "neighbor_types")
        for value, name in ((nums, "neighbor_nums"), (kinds, "neighbor_types")):
            if not 1 <= len(value) <= 6:
                raise ValueError(
                    f"Wrong number of input members for {name}, should be between 1 and 6, got {len(value)}."
                )
        if len(nums) != len(kinds):
            raise ValueError("The number of members of neighbor_nums and neighbor_types is inconsistent.")
        if nodes.size == 0:
            raise RuntimeError("Input node_list is empty.")
        for number, kind in zip(nums.tolist(), kinds.tolist(), strict=True):
            if number < 1:
                raise RuntimeError(f"Wrong samples number: {number}.")
            self._get_nodes_of_type(kind)
        rows = []
        for node in nodes.reshape(-1).tolist():
            row, hop = [node], [node]
            for number, kind in zip(nums.tolist(), kinds.tolist(), strict=True):
                hop = [n for start in hop for n in self._sample_neighbours(self._get_neighbours(start, kind), number)]
                row += hop
            rows.append(row)
        return np.array(rows, np.int32)

    def _sample_neighbours(self, candidates, number):
        """Draw `number` random candidates. No candidate is drawn again before all have been drawn."""
        if len(candidates) == 0:
            return [_NO_NODE] * number
        sampled = []
        while len(sampled) < number:
            sampled += self._random.permutation(candidates)[: number - len(sampled)].tolist()
        return sampled

    @checked
    def get_neg_sampled_neighbors(
        self, node_list: list[Any] | np.ndarray, neg_neighbor_num: Int, neg_neighbor_type: Int
    ) -> np.ndarray:
        """Sample random nodes of a type that are not neighbours of the given nodes.

        Each row contains a node and then its samples.

        Args:
            node_list (Union[list, numpy.ndarray]): The nodes.
            neg_neighbor_num (int): Number of samples per node.
            neg_neighbor_type (int): Type of the samples.

        Returns:
            numpy.ndarray, int32, (nodes, 1 + `neg_neighbor_num`).
        """
        nodes = _to_int32_array(node_list, "node_list")
        if nodes.size == 0:
            raise RuntimeError("Input node_list is empty.")
        if neg_neighbor_num < 1:
            raise RuntimeError(f"Wrong samples number: {neg_neighbor_num}.")
        all_nodes = self._get_nodes_of_type(neg_neighbor_type)
        rows = []
        for node in nodes.reshape(-1).tolist():
            candidates = all_nodes[
                ~np.isin(all_nodes, self._get_neighbours(node, neg_neighbor_type)) & (all_nodes != node)
            ]
            rows.append([node, *self._sample_neighbours(candidates, neg_neighbor_num)])
        return np.array(rows, np.int32)

    def get_node_feature(
        self, node_list: list[Any] | np.ndarray, feature_types: list[Any] | np.ndarray
    ) -> list[np.ndarray]:
        """Return features of nodes.

        Args:
            node_list (Union[list, numpy.ndarray]): The nodes, in any shape. The features of -1 are zeros.
            feature_types (Union[list, numpy.ndarray]): Types of the features.

        Returns:
            list[numpy.ndarray], one per type, with the shape of `node_list` followed by that of the feature.

        Raises:
            TypeError: If an argument has the wrong type.
            RuntimeError: If there is no such node or feature.
        """
        graph = self._graph
        return self._collect_features(
            _to_nested_int32_array(node_list, "node_list"),
            feature_types,
            graph.node_features,
            graph.node_defaults,
            "node",
        )

    def get_edge_feature(self, edge_list: Any, feature_types: Any) -> list[np.ndarray]:
        """Return features of edges; see :meth:`get_node_feature`."""
        graph = self._graph
        return self._collect_features(
            _to_nested_int32_array(edge_list, "edge_list"),
            feature_types,
            graph.edge_features,
            graph.edge_defaults,
            "edge",
        )

    @staticmethod
    def _collect_features(items, feature_types, features, defaults, entity):
        if items.size == 0:
            raise RuntimeError(f"Input {entity}_list is empty.")
        results = []
        for kind in _to_int32_array(feature_types, "feature_types").tolist():
            if kind not in defaults:
                raise RuntimeError(f"Invalid feature type: {kind}; the {entity}s have {sorted(defaults)}.")
            values = []
            for item in items.reshape(-1).tolist():
                if item != _NO_NODE and item not in features:
                    raise RuntimeError(f"Invalid {entity} id: {item}.")
                values.append(features[item].get(kind, defaults[kind]) if item != _NO_NODE else defaults[kind])
            results.append(np.stack(values).reshape(items.shape + defaults[kind].shape))
        return results

    def graph_info(self) -> dict[str, Any]:
        """Return a dict with the types and counts of nodes, edges and features.

        Returns:
            dict, with ``node_type``, ``edge_type``, ``node_num``, ``edge_num``, ``node_feature_type``,
            ``edge_feature_type``.
        """
        graph = self._graph
        edge_kinds = list(graph.edge_type.values())
        return {
            "node_type": sorted(graph.of_type),
            "edge_type": sorted(set(edge_kinds)),
            "node_num": {kind: len(nodes) for kind, nodes in graph.of_type.items()},
            "edge_num": {kind: edge_kinds.count(kind) for kind in sorted(set(edge_kinds))},
            "node_feature_type": sorted(graph.node_defaults),
            "edge_feature_type": sorted(graph.edge_defaults),
        }

    @checked
    def random_walk(
        self,
        target_nodes: list[Any] | np.ndarray,
        meta_path: list[Any] | np.ndarray,
        step_home_param: Annotated[float, of_type(float)] = 1.0,
        step_away_param: Annotated[float, of_type(float)] = 1.0,
        default_node: Annotated[int, within(-1, INT32_MAX, int)] = -1,
    ) -> np.ndarray:
        """Return random walks as in node2vec.

        Args:
            target_nodes (Union[list, numpy.ndarray]): First nodes of the walks.
            meta_path (Union[list, numpy.ndarray]): Type of the node that each step reaches.
            step_home_param (float, optional): Node2vec's p: the greater, the less often a step goes back. Default: 1.0.
            step_away_param (float, optional): Node2vec's q: the greater, the less often a step leaves the neighbourhood
                of the node before. Default: 1.0.
            default_node (int, optional): Entry for a step that cannot be taken. Default: -1.

        Returns:
            numpy.ndarray, int32, (targets, 1 + steps).
        """
        nodes, path = _to_int32_array(target_nodes, "target_nodes"), _to_int32_array(meta_path, "meta_path")
        if nodes.size == 0 or path.size == 0:
            raise RuntimeError("Input target_nodes and meta_path must not be empty.")
        if step_home_param <= 0 or step_away_param <= 0:
            raise RuntimeError("step_home_param and step_away_param have to be greater than 0.")
        for kind in set(path.tolist()):
            self._get_nodes_of_type(kind)
        walks = np.full((nodes.size, 1 + path.size), default_node, np.int32)
        for walk, node in zip(walks, nodes.reshape(-1).tolist(), strict=True):
            walk[0], before, kind_before = node, None, None
            for step, kind in enumerate(path.tolist(), 1):
                candidates = self._get_neighbours(node, kind)
                if len(candidates) == 0:
                    break
                weights = np.ones(len(candidates))
                if before is not None:
                    near = np.isin(candidates, self._get_neighbours(before, kind_before))
                    weights = np.where(
                        candidates == before, 1 / step_home_param, np.where(near, 1.0, 1 / step_away_param)
                    )
                before, kind_before = node, kind
                node = int(self._random.choice(candidates, p=weights / weights.sum()))
                walk[step] = node
        return walks
