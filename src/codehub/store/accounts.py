"""User accounts."""

from uuid import uuid4

from sqlalchemy import text

from codehub.store.engine import single
from codehub.store.passwords import hash_password

_FIRST_ADMINISTRATOR = text("""
    INSERT INTO users (id, login, password_hash, role)
    SELECT :id, :login, :password_hash, 'admin'
    WHERE NOT EXISTS (SELECT FROM users)
    RETURNING id
""")


async def create_first_administrator(database_url: str, login: str, password: str) -> bool:
    """Make the account with which an installation begins. False, and nothing is changed, where any user exists."""
    engine = single(database_url, "codehub-setup")
    try:
        async with engine.begin() as connection:
            await connection.execute(text("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE"))
            values = {"id": uuid4(), "login": login, "password_hash": hash_password(password)}
            created = await connection.execute(_FIRST_ADMINISTRATOR, values)
            return created.first() is not None
    finally:
        await engine.dispose()
