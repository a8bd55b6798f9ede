"""What a program prints, piece by piece, as lines."""


class Lines:
    """Whole lines only: the beginning of one is kept until its end has come."""

    def __init__(self) -> None:
        self._begun = b""

    def add(self, piece: bytes) -> list[bytes]:
        *whole, self._begun = (self._begun + piece).split(b"\n")
        return [line + b"\n" for line in whole]
