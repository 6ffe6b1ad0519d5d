"""Cluster: the same solvers over the nodes of a Ray cluster; nothing here knows what is computed.

connection      connect, the workers of a cluster, for whatever is fitted inside a `with` block
nodes           ClusterNodes, which nodes are there, and who takes the place of one that is gone
actors          RayWorkers, the nodes of a cluster as workers: actors and tasks
actor_groups    RayGroup, objects of the solvers in actors, made anew where one is lost
watch           ClusterWatch, what every node does, and which are lost, in words
spread_gallery  spread, a gallery whose images are searched by workers
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {"ClusterError": "nodes", "connect": "connection", "spread": "spread_gallery"}
)
