"""The cluster's certificate authority, and the credentials that it issues.

Elliptic keys: one takes 10 ms to make where an RSA key takes 100.
"""

import base64
import json
from pathlib import Path

from .command import run

NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
NEW_CERTIFICATE = ("openssl", "req", "-x509", *NEW_KEY, "-days", "30")


class Authority:
    """Files in one folder: ca.crt, ca.key, sa.key, sa.pub, NAME.crt, NAME.key, NAME.conf."""

    def __init__(self, folder: Path, server: str):
        self.folder = folder
        self.server = server

    def path(self, name: str) -> Path:
        return self.folder / name

    def create(self) -> None:
        self.folder.mkdir(mode=0o700)
        run(*NEW_CERTIFICATE, "-subj", "/CN=test-cluster", *self._out("ca"))
        # Service account tokens are signed with this pair.
        key, public = self.path("sa.key"), self.path("sa.pub")
        run("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        run("openssl", "ec", "-in", key, "-pubout", "-out", public)

    def _out(self, name: str) -> list[str | Path]:
        return ["-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.crt")]

    def certificate(self, name: str, subject: str, alternatives: str = "DNS:localhost", usage: str = "") -> None:
        """`usage`: what alone it is good for, serverAuth or clientAuth."""
        signer = ["-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key")]
        extensions = [f"subjectAltName={alternatives}", "basicConstraints=critical,CA:FALSE"]
        extensions += [f"extendedKeyUsage={usage}"] if usage else []
        added = [word for extension in extensions for word in ("-addext", extension)]
        run(*NEW_CERTIFICATE, "-subj", subject, *signer, *added, *self._out(name))

    def kubeconfig(self, name: str, subject: str) -> Path:
        """For the user that the subject names (CN), in the groups that it names (O)."""
        self.certificate(name, subject)
        cluster = {
            "server": self.server,
            "certificate-authority-data": self._base64("ca.crt"),
        }
        user = {
            "client-certificate-data": self._base64(f"{name}.crt"),
            "client-key-data": self._base64(f"{name}.key"),
        }
        configuration = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "cluster", "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": "cluster", "user": name}}],
            "current-context": name,
        }
        path = self.path(f"{name}.conf")
        path.write_text(json.dumps(configuration, indent=1))
        return path

    def _base64(self, name: str) -> str:
        return base64.b64encode(self.path(name).read_bytes()).decode()
