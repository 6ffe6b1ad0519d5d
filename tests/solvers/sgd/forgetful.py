"""Workers that lose objects at random calls and make them anew, as a cluster does: the same bits are to come of it."""

import pickle

import numpy as np

from manyclass._core.worker_groups import using_workers


def travelled(value):
    """The same after a journey to another process; arrays arrive read-only."""
    arrays = []
    data = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return pickle.loads(data, buffers=[bytes(array.raw()) for array in arrays])


class ForgetfulWorkers:
    """So many workers, of which one is lost at a call with this probability, or in the middle of it."""

    def __init__(self, count, rate=0.0, seed=0, sees_files=True):
        self._count, self.rate, self.sees_files = count, rate, sees_files
        self.rng, self.lost, self.sent, self.open = np.random.default_rng(seed), 0, [], 0
        self.shared = []

    def __len__(self):
        return self._count

    def share(self, value):
        self.shared.append(value)
        return value

    def start(self, make, common, each):
        return ForgetfulGroup(self, make, common, each)


class ForgetfulGroup:
    def __init__(self, workers, make, common, each):
        self._workers, self._made = workers, [(make, (*common, *arguments)) for arguments in each]
        self._updates, self._saved = [], (0, [])
        self._objects = [self._begin(i) for i in range(len(each))]
        workers.open += 1

    def __len__(self):
        return len(self._made)

    def update(self, method, *common, each=None):
        calls = [(method, (*common, *((each or [()] * len(self))[i]))) for i in range(len(self))]
        answers = [self._call(i, call) for i, call in enumerate(calls)]
        self._updates.append(calls)
        return answers

    def query(self, method, *common, each=None):
        answers = self.update(method, *common, each=each)
        self._updates.pop()
        return answers

    def save(self, paths):
        self.query("save", each=[(path,) for path in paths])
        self._saved = len(self._updates), paths

    def close(self):
        self._objects.clear()
        self._workers.open -= 1

    def _begin(self, i):
        make, arguments = self._made[i]
        with using_workers(None):
            return make(*travelled(arguments))

    def _call(self, i, call):
        workers = self._workers
        before, during = workers.rng.random(2) < workers.rate
        if during:
            self._ask(i, call)
        if before or during:
            workers.lost += 1
            self._objects[i] = self._begin(i)
            done, paths = self._saved
            restored = done and workers.sees_files and self._ask(i, ("restore", (paths[i],)))
            for seen in self._updates[done if restored else 0 :]:
                self._ask(i, seen[i])
        answer = self._ask(i, call)
        workers.sent.append((call[0], len(pickle.dumps(answer))))
        return answer

    def _ask(self, i, call):
        method, arguments = call
        with using_workers(None):
            return travelled(getattr(self._objects[i], method)(*travelled(arguments)))
