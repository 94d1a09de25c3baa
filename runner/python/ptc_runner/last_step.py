"""The step that was taken last. Asked for again it is answered again: whoever asks may be another host."""


class LastStep:
    def __init__(self):
        self.number = 0
        self.digest = None  # tells it from another of its number; older hosts say none
        self.answer = None

    def take(self, frame):
        self.number, self.digest = frame["step"], frame.get("digest")

    def told(self):
        """What an answer says of it: everybody who is attached hears that, and may wait for another step."""
        return {"step": self.number, **({} if self.digest is None else {"digest": self.digest})}

    def is_of(self, frame):
        return self.answer is not None and frame["step"] == self.number

    def is_another(self, frame):
        """Of the same number, from a run that was reset to before this one."""
        told = frame.get("digest")
        return told is not None and self.digest is not None and told != self.digest
