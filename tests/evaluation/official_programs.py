"""The arithmetic of the three official evaluation programs, a step at a time and in our words."""

import numpy as np


def walk_the_list(positives, ambiguous, ranked):
    """Oxford's and Paris's program: recall and precision after every image that counts, in single precision."""
    area, last_recall, last_precision = np.float32(0), np.float32(0), np.float32(1)
    found = seen = 0
    for image in ranked:
        if image in ambiguous:
            continue
        found += image in positives
        seen += 1
        recall, precision = np.float32(found / len(positives)), np.float32(found / seen)
        area += (recall - last_recall) * (last_precision + precision) / np.float32(2)
        last_recall, last_precision = recall, precision
    return float(area)


def step_by_positives(places, n_positives):
    """Holidays' program: a trapezoid for every positive, from what was seen before it to what is seen with it."""
    total = 0.0
    for found, seen in enumerate(places):
        left = found / seen if seen else 1.0
        total += (left + (found + 1) / (seen + 1)) / (2 * n_positives)
    return total


def holidays(query, positives, ranked):
    """Holidays' rule: what follows the query in the list moves up by one."""
    places, shift = [], 0
    for place, image in enumerate(ranked):
        if image == query:
            shift = 1
        elif image in positives:
            places.append(place - shift)
    return step_by_positives(places, len(positives))


def revisited(positives, junk, ranked, cutoffs):
    """The revisited sets' program: (average precision, precision at each cutoff), None without positives."""
    if not len(positives):
        return None
    where = {image: place for place, image in enumerate(ranked)}
    junk_places = sorted(where[image] for image in junk)
    places = [place - sum(other < place for other in junk_places) for place in sorted(where[i] for i in positives)]
    precisions = []
    for k in cutoffs:
        looked_at = min(places[-1] + 1, k)
        precisions.append(sum(place + 1 <= looked_at for place in places) / looked_at)
    return step_by_positives(places, len(positives)), precisions


def ranked_by(scores):
    """Falling scores; equal ones as they stand."""
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))
