"""Re-identification risk as explicit graphical models; `import reidbn as rb`."""

from importlib import import_module
from typing import Any

from reidbn._public import MODULES, PUBLIC

__version__ = "0.1.0"
__all__ = [*PUBLIC, *MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in PUBLIC:
        value = getattr(import_module(PUBLIC[name]), name)
    elif name in MODULES:
        value = import_module(MODULES[name])
    else:
        raise AttributeError(f"module 'reidbn' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
