"""Workers of this process as those of a cluster are: all that travels is pickled, and objects are lost on the way."""

import pickle

import numpy as np

from manyclass._core.worker_groups import using_workers


def sent(thing):
    """What arrives elsewhere: arrays are read-only."""
    buffers = []
    words = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(words, buffers=[bytes(buffer.raw()) for buffer in buffers])


class LossyWorkers:
    """As many as `count`; before a call, each object is lost with a probability, and made anew."""

    def __init__(self, count, loss=0.0, seed=0):
        self.count, self.loss, self.rng = count, loss, np.random.default_rng(seed)
        self.groups = []

    def __len__(self):
        return self.count

    def start(self, make, common, each):
        self.groups.append(LossyGroup(self, make, list(common), [list(one) for one in each]))
        return self.groups[-1]

    @property
    def open(self):
        return sum(not group.closed for group in self.groups)

    @property
    def lost(self):
        return sum(group.lost for group in self.groups)

    @property
    def bytes_back(self):
        return max(group.bytes_back for group in self.groups)


class LossyGroup:
    def __init__(self, workers, make, common, each):
        self.workers, self.make, self.common, self.each = workers, make, common, each
        self.updates, self.lost, self.closed, self.bytes_back = [], 0, False, 0
        self.calls, self.bytes_sent = [], 0
        self.objects = [self._made(i) for i in range(len(each))]

    def __len__(self):
        return len(self.each)

    def update(self, method, *common, each=None):
        answers = self.query(method, *common, each=each)
        self.updates.append((method, common, each))
        return answers

    def query(self, method, *common, each=None):
        assert not self.closed
        self.calls.append(method)
        for i in range(len(self)):
            if self.workers.rng.random() < self.workers.loss:
                self.lost += 1
                self.objects[i] = self._made(i)
                for update in self.updates:
                    self._asked(i, *update)
        self.bytes_sent = max(self.bytes_sent, len(pickle.dumps(common)))
        answers = [self._asked(i, method, common, each) for i in range(len(self))]
        self.bytes_back = max(self.bytes_back, *(len(pickle.dumps(answer)) for answer in answers))
        return [sent(answer) for answer in answers]

    def close(self):
        self.closed = True

    def _made(self, i):
        with using_workers(None):
            return self.make(*sent(self.common), *sent(self.each[i]))

    def _asked(self, i, method, common, each):
        with using_workers(None):
            return getattr(self.objects[i], method)(*sent(common), *(() if each is None else sent(each[i])))
