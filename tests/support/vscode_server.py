"""What the extension comes with: a server as a wheel, and what that needs."""

import base64
import hashlib
import shutil
import zipfile
from pathlib import Path


def bundle(extension: Path, version: str = "0.0", *needs: Path) -> None:
    """A server that does nothing, which needs these wheels; in place of
    the one before."""
    folder = extension / "server"
    shutil.rmtree(folder, ignore_errors=True)
    wheel(folder, "lsp_agent", version, "[console_scripts]\nlsp-agent=lsp_agent:main\n")
    lines = [f"{need.name.split('-')[0]} @ {need.as_uri()}\n" for need in needs]
    (folder / "requirements.txt").write_text("".join(lines))


def wheel(folder: Path, name: str, version: str = "0.0", programs: str = "") -> Path:
    """Of a module that has its version."""
    about = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\ndef main(): pass\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": programs,
    }
    record = "".join(f"{path},sha256={_digest(text)},\n" for path, text in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return made


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
