"""A cluster of two nodes of Ray on this machine. Ray lies outside the ordinary environment: `make test-ray`."""

from __future__ import annotations

import importlib.util

import pytest

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray is installed apart: make test-ray")
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}


def start(cluster_class):
    """A cluster of two nodes. Ray gives a node 30 s to start, too little where others have the machine."""
    left = 3
    while True:
        made, left = cluster_class(), left - 1
        try:
            made.add_node(**NODE, include_dashboard=False, node_ip_address="127.0.0.1")
            made.second = made.add_node(**NODE, node_ip_address="127.0.0.1")
            made.wait_for_nodes()
        except Exception:
            made.shutdown()
            if not left:
                raise
        else:
            return made


@pytest.fixture(scope="module")
def cluster():
    from verigym.agents.ray_actors import listen_on_loopback

    listen_on_loopback()
    import ray
    from ray.cluster_utils import Cluster

    made = start(Cluster)
    ray.init(address=made.address, log_to_driver=False, configure_logging=False)
    yield made
    ray.shutdown()
    made.shutdown()


def replace_second(cluster):
    """Add a node in place of the one that was removed."""
    cluster.second = cluster.add_node(**NODE, node_ip_address="127.0.0.1")
    cluster.wait_for_nodes()
