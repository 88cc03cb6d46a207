"""Applications that prove who they are by a certificate, or by the token of a cluster that they trust."""

import datetime
import secrets
import time
import uuid
from pathlib import Path

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12

ISSUER = "https://issuer.example/cluster"
SUBJECT = "system:serviceaccount:kube-system:azdisk-controller"
AUDIENCE = "api://AzureADTokenExchange"


class ByCertificate:
    """An application with a certificate, which is in a PKCS#12 file."""

    def __init__(self, folder: Path):
        self.client_id, self.password = str(uuid.uuid4()), secrets.token_hex(16)
        self.file = folder / "certificate.p12"
        self.key = rsa.generate_private_key(65537, 2048)
        now = datetime.datetime.now(datetime.timezone.utc)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "driver")])
        self.certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self.key.public_key())
            .serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
            .sign(self.key, hashes.SHA256()))
        self.file.write_bytes(pkcs12.serialize_key_and_certificates(
            b"driver", self.key, self.certificate, None,
            serialization.BestAvailableEncryption(self.password.encode())))

    @property
    def client(self) -> dict:
        """As azsim's configuration has it."""
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()
        return {"clientId": self.client_id, "certificates": [pem]}

    @property
    def key_lines(self) -> list[str]:
        """The private key as PEM, line by line."""
        pem = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return pem.decode().splitlines()[1:-1]


class ByWorkload:
    """An application that trusts one service account of a cluster; the account's token is in a file."""

    def __init__(self, folder: Path):
        self.client_id, self.file = str(uuid.uuid4()), folder / "workload-token"
        self.key = rsa.generate_private_key(65537, 2048)
        self.write_token()

    @property
    def client(self) -> dict:
        pem = self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        return {"clientId": self.client_id, "federatedCredentials": [
            {"issuer": ISSUER, "subject": SUBJECT, "audience": AUDIENCE, "key": pem.decode()}]}

    def write_token(self, subject: str = SUBJECT, audience: str = AUDIENCE) -> str:
        claims = {"iss": ISSUER, "sub": subject, "aud": [audience], "exp": int(time.time()) + 3600}
        token = jwt.encode(claims, self.key, "RS256")
        self.file.write_text(token)
        return token
