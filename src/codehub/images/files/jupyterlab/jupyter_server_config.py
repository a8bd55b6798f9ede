"""How JupyterLab serves a workspace. Only codehub's front door reaches it, and that has let the visitor in."""

import os
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - given by Jupyter

c.ServerApp.ip = "0.0.0.0"  # noqa: S104 - inside the workspace's own network
c.ServerApp.open_browser = False
c.ServerApp.root_dir = str(Path.home())
c.ServerApp.base_url = os.environ.get("CODEHUB_BASE_PATH", "/")  # the front door keeps the prefix of the path
c.ServerApp.allow_remote_access = True  # the Host header is the front door's name
c.IdentityProvider.token = ""
c.PasswordIdentityProvider.allow_password_change = False
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.news_url = None
