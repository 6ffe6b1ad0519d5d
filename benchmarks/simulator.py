"""Seconds that a job takes on a cluster, from what its steps cost one core, and from what travels."""

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Cluster:
    """Nodes of so many cores, and the bytes a second that one of them sends or receives."""

    nodes: int
    cores: float = 1
    network: float = float("inf")


@dataclass(frozen=True)
class Costs:
    """Seconds of one core, but for `gather`."""

    picture: float  # to encode one
    task: float  # a part of the pictures, beside these
    join: float  # parts to a store, beside their rows
    joined: float  # a row of 1,024 numbers
    decode: float  # a number of a row of codes
    update: float  # a number of a machine that an example visits
    judged: float  # a number of a row that is judged
    judge: float  # a number of a class by which it is
    copied: float  # a number of a class, to new memory
    product: float  # X V: a number of a row of codes and a column
    adjoint: float  # X'R: the same
    softmax: float  # scores of rank 64, their loss, and back: a row and a class
    row: float  # a step of the trace norm for a row of the benchmark
    step: float  # a step of the trace norm, beside its rows
    score: float  # a number of an embedding and a query
    rank: float  # a query among all that were found
    gather: float  # an answer of all actors, of no bytes

    def features(self, n: int, there: Cluster, parts: int, width: float = 1024) -> float:
        """Pictures by tasks of one core, and then the rows of all parts, of so many numbers, joined by one process."""
        cores = there.nodes * there.cores
        return n * self.picture / cores + ceil(parts / cores) * self.task + self.join + n * self.joined * width / 1024

    def epoch(self, n: int, d: int, negatives: float, there: Cluster) -> float:
        """Of one-vs-rest: every node moves its own classes, and decodes the rows that one of them sees.

        Negatives of an example lie evenly among the classes, so that a node needs all rows until nodes are as many.
        """
        visits = (1 + negatives) / there.nodes
        return n * d * (min(1.0, visits) * self.decode + visits * self.update) / there.cores + self.gather

    def judging(self, n: int, d: int, k: int, there: Cluster) -> float:
        """Of n rows by the classes of all nodes: weights of some, and the best of every row, go through one process."""
        sent = there.nodes * (12 * n + d * k / 8) / there.network
        return n * d * (self.judged + k / there.nodes * self.judge) / there.cores + 2 * self.gather + sent

    def copies(self, d: int, k: int, count: int, there: Cluster) -> float:
        """Of the weights of its classes, that every node makes so often in a fit."""
        return count * d * k / there.nodes * self.copied

    def trace_norm_step(self, n: int, there: Cluster, row: float, sent: float = 0, gathers: float = 1) -> float:
        """Every node multiplies its own rows; so many bytes go to each, and come back from it."""
        shared = self.step + gathers * self.gather + 2 * there.nodes * sent / there.network
        return n / there.nodes * row / there.cores + shared

    def row_of_codes(self, d: int, k: int, rank: int) -> float:
        """A step of the trace norm for one row."""
        return d * rank * (self.product + self.adjoint) + k * rank / 64 * self.softmax

    def search(self, n: int, d: int, queries: int, there: Cluster) -> float:
        """Every node scores its own images; the best 26 of each are ranked by one process."""
        sent = there.nodes * queries * (4 * d + 12 * 26) / there.network
        scored = n / there.nodes * d * queries * self.score / there.cores
        return scored + self.gather + queries * self.rank + sent
