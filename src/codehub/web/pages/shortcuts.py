"""What keys do. The one table of it: the script of the pages reads it there, and the help sheet is made from it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortcut:
    does: str
    """What `static/shortcuts.js` does, and the end of the key of its words (`shortcut.`)."""
    pressed: str
    """As a browser names it; Mod is Control or, on a Mac, Command."""
    caps: tuple[str, ...]
    """What is printed on the keys."""


SHORTCUTS = (
    Shortcut("palette", "Mod+k", ("Ctrl / ⌘", "K")),
    Shortcut("search", "/", ("/",)),
    Shortcut("create", "c", ("C",)),
    Shortcut("next", "j", ("J",)),
    Shortcut("previous", "k", ("K",)),
    Shortcut("open", "o", ("O",)),
    Shortcut("switch", "s", ("S",)),
    Shortcut("help", "?", ("?",)),
    Shortcut("close", "Escape", ("Esc",)),  # by the browser itself, and by `static/menus.js`
)
