"""What a job takes on a cluster: the sum of its parts, which nodes share or do not."""

from dataclasses import fields

import pytest

from benchmarks.simulator import Cluster, Costs


def costs(**known):
    return Costs(**{field.name: known.get(field.name, 0.0) for field in fields(Costs)})


def test_pictures_are_shared_by_all_cores_and_their_rows_joined_by_one():
    known = costs(picture=2.0, task=1.0, joined=0.5, join=3.0)
    assert known.features(100, Cluster(5, 2), parts=21) == 100 * 2 / 10 + 3 * 1 + 3 + 100 * 0.5


def test_every_node_decodes_all_rows_until_nodes_are_more_than_the_classes_that_a_row_visits():
    known = costs(decode=1.0)
    assert [known.epoch(10, 3, 7, Cluster(nodes)) for nodes in (1, 8, 16)] == [30, 30, 15]


def test_machines_and_judges_are_divided():
    known = costs(update=1.0, judge=2.0, gather=0.5)
    assert known.epoch(10, 3, 7, Cluster(4, 2)) == 10 * 3 * 2 / 2 + 0.5
    assert known.judging(10, 3, 8, Cluster(4, 2)) == 10 * 3 * 2 * 2 / 2 + 1


def test_every_node_copies_the_weights_of_its_own_classes():
    assert costs(copied=2.0).copies(3, 8, 5, Cluster(4)) == 5 * 3 * 2 * 2


def test_bytes_of_all_nodes_go_through_one_process():
    known, slow = costs(row=1.0), Cluster(4, network=8.0)
    assert known.trace_norm_step(100, slow, known.row, sent=16) == 25 + 2 * 4 * 16 / 8
    assert known.judging(8, 8, 8, slow) == 4 * (12 * 8 + 8) / 8


@pytest.mark.parametrize("nodes", [1, 4])
def test_images_are_divided_and_queries_ranked_by_one(nodes):
    known = costs(score=1.0, rank=3.0)
    assert known.search(100, 2, 5, Cluster(nodes)) == 100 / nodes * 2 * 5 + 5 * 3


def test_a_row_of_codes_is_multiplied_twice_and_scored_by_all_classes():
    assert costs(product=1.0, adjoint=2.0, softmax=3.0).row_of_codes(10, 5, 64) == 10 * 64 * 3 + 5 * 3
