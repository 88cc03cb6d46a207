"""Checksums of a folder's files, as sha256sum checks them, and a signature of these."""

import hashlib
import subprocess
from pathlib import Path

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"


def write_sums(folder: Path) -> None:
    files = sorted(file for file in folder.iterdir() if file.is_file())
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / SUMS).write_text("".join(lines))


def sign(folder: Path, key: Path) -> None:
    """By a private key (PEM, EC or RSA); what openssl asks for it, it asks the user."""
    words = ["openssl", "dgst", "-sha256", "-sign", key, "-out", folder / SIGNATURE, folder / SUMS]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"nothing was signed by {key}: {done.stderr.strip().splitlines()[0]}")
