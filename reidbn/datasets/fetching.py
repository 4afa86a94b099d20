"""Real tables on request: from a folder of the user's, the cache, or the archive that has them.

`fetch` looks in the folder that REIDBN_DATA names, then in the cache (REIDBN_CACHE, or the
user's cache folder), and only then downloads.  Whatever is read has the SHA-256 written here.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.release.writing import whole

if TYPE_CHECKING:
    import pandas as pd

_LARGEST = 200_000_000
_ADULT = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
)  # fmt: skip


@dataclass(frozen=True)
class Dataset:
    """One table: where it is, how its bytes are known, and how they become a table."""

    folder: str
    """The folder of the table inside REIDBN_DATA and the cache."""
    address: str
    """The archive that holds it."""
    file: str
    """The file in the archive, in whatever folder."""
    sha256: str
    """Of the file itself, as published."""
    tidy: Callable[[bytes], pd.DataFrame]
    licence: str
    prepared: dict[str, str] = field(default_factory=dict)
    """Already tidied files that may be in the folder instead, each with its SHA-256."""


def _adult(content: bytes) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(
        io.BytesIO(content), names=list(_ADULT), skipinitialspace=True, na_values=["?"],
        keep_default_na=False, skip_blank_lines=True,
    )  # fmt: skip


def _diabetes(content: bytes) -> pd.DataFrame:
    """Encounters and patients renumbered from 1, the patients' order of appearance kept."""
    import pandas as pd

    table = pd.read_csv(
        io.BytesIO(content), na_values=["?"], keep_default_na=False, dtype={"diag_1": str},
        low_memory=False,
    )  # fmt: skip
    for name in ("max_glu_serum", "A1Cresult"):
        table[name] = table[name].replace("None", None)
    table["encounter_id"] = range(1, len(table) + 1)
    table["patient_nbr"] = pd.factorize(table["patient_nbr"])[0] + 1
    return table.rename(columns={"encounter_id": "encounter", "patient_nbr": "patient"})


def _cervical(content: bytes) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(io.BytesIO(content), na_values=["?"], keep_default_na=False)


_UCI = "https://archive.ics.uci.edu/static/public/"
DATASETS = {
    "adult": Dataset(
        "adult", _UCI + "2/adult.zip", "adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", _adult,
        "UCI Adult, Becker and Kohavi 1996, doi 10.24432/C5XW20, CC BY 4.0",
        {"adult_data.csv.gz": "b71c7215d990742ab14c51d72845cf0dbd4d66fb866e0dfac7262df6e9a0258b"},
    ),
    "diabetes130": Dataset(
        "diabetes130", _UCI + "296/diabetes+130-us+hospitals+for+years+1999-2008.zip",
        "diabetic_data.csv",
        "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97", _diabetes,
        "UCI Diabetes 130-US hospitals, Clore et al. 2014, doi 10.24432/C5230J, CC BY 4.0",
        {"diabetes130.parquet": "f6df198c74260afb43350952fbd4f6a15b0b61768908d5bbc1d99b6476455462"},
    ),
    "cervical": Dataset(
        "cervical_cancer", _UCI + "383/cervical+cancer+risk+factors.zip",
        "risk_factors_cervical_cancer.csv",
        "f749419274544950bdb971781b26187bc16440b0a86ad96f932854ac7dc530a7", _cervical,
        "UCI Cervical cancer (risk factors), Fernandes et al. 2017, doi 10.24432/C5Z310, CC BY 4.0",
        {"risk_factors_cervical_cancer.csv.gz":
         "0afc8939034386a6a71dbdd3e93fda071c5394d74f131d39ab57e0a60bafacdf"},
    ),
}  # fmt: skip


@typed
def fetch(name: str) -> pd.DataFrame:
    """A real table by name: "adult", "diabetes130" or "cervical"; blanks are missing cells."""
    if name not in DATASETS:
        raise UsageError(f'no data set "{name}"; {did_you_mean(name, DATASETS)}')
    wanted = DATASETS[name]
    for folder in (_own_folder(), cache_folder()):
        found = None if folder is None else _from_folder(folder / wanted.folder, wanted)
        if found is not None:
            return found
    content = _member(name, wanted, _download(name, wanted.address))
    _check(content, wanted.sha256, f"{name} from {wanted.address.split('/')[2]}")
    _store(cache_folder() / wanted.folder / wanted.file, content)
    return wanted.tidy(content)


def _own_folder() -> Path | None:
    named = os.environ.get("REIDBN_DATA")
    if named and not Path(named).is_dir():
        raise DataError("REIDBN_DATA names a folder that is not there; correct it or unset it")
    return Path(named) if named else None


def cache_folder() -> Path:
    """Where downloads are kept: REIDBN_CACHE, or reidbn in the user's cache folder."""
    named = os.environ.get("REIDBN_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "reidbn"


def _from_folder(folder: Path, wanted: Dataset) -> pd.DataFrame | None:
    """The table from the file as published or an already tidied one, whichever is there."""
    published = folder / wanted.file
    if published.is_file():
        content = published.read_bytes()
        _check(content, wanted.sha256, f"{folder.name}/{published.name}")
        return wanted.tidy(content)
    for file, sha256 in wanted.prepared.items():
        if (folder / file).is_file():
            _check((folder / file).read_bytes(), sha256, f"{folder.name}/{file}")
            return _read_prepared(folder / file)
    return None


def _read_prepared(path: Path) -> pd.DataFrame:
    import pandas as pd

    if path.suffix != ".parquet":
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    import duckdb

    with duckdb.connect(config={"temp_directory": ""}) as con:
        return con.execute("SELECT * FROM read_parquet(?)", [str(path)]).df()


def _check(content: bytes, sha256: str, what: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DataError(
            f"{what}: SHA-256 is {found[:12]}..., not {sha256[:12]}...; the file is damaged or "
            "another version, delete it and fetch again"
        )


def _download(name: str, address: str) -> bytes:
    try:
        with urlopen(address, timeout=60) as answer:  # noqa: S310 (addresses are those above)
            content: bytes = answer.read(_LARGEST + 1)
    except (URLError, TimeoutError, OSError) as problem:
        reason = getattr(problem, "reason", problem)
        raise DataError(
            f"cannot download {name} from {address.split('/')[2]} ({reason}); download it on a "
            "machine with a network and name its folder in REIDBN_DATA"
        ) from None
    if len(content) > _LARGEST:
        raise DataError(
            f"{name}: the archive is larger than {_LARGEST} bytes; not the one expected"
        )
    return content


def _member(name: str, wanted: Dataset, content: bytes) -> bytes:
    """The file inside the archive, in whatever folder."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                if member.rsplit("/", 1)[-1] == wanted.file:
                    return archive.read(member)
    except zipfile.BadZipFile:
        raise DataError(f"{name}: what was downloaded is not an archive; try again later") from None
    raise DataError(f"{name}: the archive has no {wanted.file}; it is not the one expected")


def _store(path: Path, content: bytes) -> None:
    """Write whole or not at all, so that a cut download is never taken for a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as made:
        made.write_bytes(content)
