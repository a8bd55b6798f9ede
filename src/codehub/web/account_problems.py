"""What can be refused to somebody about accounts."""

import math

from codehub.web.problems import NotAllowed, Refused


class WrongCredentials(Refused):
    """Unknown login or wrong password: the same answer for both, so that nobody learns who has an account."""

    status = 401
    code = "wrong_credentials"

    def __init__(self) -> None:
        super().__init__("The login or the password is wrong.")


class AccountDisabled(NotAllowed):
    """Said only to somebody who knows the password."""

    code = "account_disabled"

    def __init__(self) -> None:
        super().__init__("This account is disabled. Ask an administrator.")


class WrongPassword(NotAllowed):
    code = "wrong_password"

    def __init__(self) -> None:
        super().__init__("The present password is not the one that was given.")


class TooManyAttempts(Refused):
    status = 429
    code = "too_many_attempts"

    def __init__(self, seconds: float) -> None:
        wait = math.ceil(seconds)
        sentence = f"Too many logins failed from here. Try again in {wait} {'second' if wait == 1 else 'seconds'}."
        super().__init__(sentence, headers={"Retry-After": str(wait)}, retry_after_seconds=wait)


class WeakPassword(Refused):
    status = 422
    code = "weak_password"


class BadCode(Refused):
    status = 400
    code = "bad_code"

    def __init__(self) -> None:
        super().__init__("This code is unknown, used or too old, or the verifier is not the one it was made for.")


class TokenLastsTooLong(Refused):
    status = 422
    code = "token_lasts_too_long"


class TooManyTokens(Refused):
    status = 409
    code = "too_many_tokens"


class LoginTaken(Refused):
    status = 409
    code = "login_taken"


class LastAdministrator(Refused):
    status = 409
    code = "last_administrator"

    def __init__(self) -> None:
        super().__init__("This is the last administrator. Make another one first.")


class WorkspacesRemain(Refused):
    status = 409
    code = "workspaces_remain"
