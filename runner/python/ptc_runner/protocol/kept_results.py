"""The results of steps that the workflow may request again: the last step, and steps that are not recorded yet."""

MAXIMUM_BYTES = 1 << 20  # of all kept results but the last one
MAXIMUM_COUNT = 1_000


class KeptResults:
    """Results by step number, in step order. A result that was dropped for space costs a rebuild at most."""

    def __init__(self):
        self.results = {}  # number -> (digest, result, bytes)
        self.bytes = 0

    def __contains__(self, number):
        return number in self.results

    def add(self, number, digest, result, size):
        while self.results and (self.bytes > MAXIMUM_BYTES or len(self.results) >= MAXIMUM_COUNT):
            self._drop(next(iter(self.results)))
        self.results[number] = (digest, result, size)
        self.bytes += size

    def get(self, number, digest):
        """Returns the result of this step, if it is kept and has this digest."""
        kept_digest, result, _ = self.results.get(number, (None, None, 0))
        return result if kept_digest == digest else None

    def forget(self, recorded):
        """Drops the results of the steps up to this number: they are recorded, and not requested again."""
        for number in [number for number in self.results if number <= recorded]:
            self._drop(number)

    def _drop(self, number):
        self.bytes -= self.results.pop(number)[2]
