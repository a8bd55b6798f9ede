"""Whether a new password is good enough. Length is what counts; rules about kinds of characters only make bad ones."""

SHORTEST = 12
LONGEST = 256
"""Far beyond what anybody types; without an end, hashing would be a way to keep the server busy."""
FEWEST_DIFFERENT = 5


def weakness(password: str, login: str) -> str | None:
    """What is wrong with it, as a sentence; None where nothing is."""
    if len(password) < SHORTEST:
        return f"The password is too short: it needs at least {SHORTEST} characters. A few words do well."
    if len(password) > LONGEST:
        return f"The password is too long: {LONGEST} characters are the most."
    if len(set(password)) < FEWEST_DIFFERENT:
        return f"The password is too simple: it needs at least {FEWEST_DIFFERENT} different characters."
    if len(login) > 2 and login.casefold() in password.casefold():
        return "The password contains the login, which everybody knows."
    return None
