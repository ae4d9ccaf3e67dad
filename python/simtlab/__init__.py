"""simtlab: a GPU performance laboratory.

    import simtlab
    result = simtlab.run("saxpy.ptx", launch="saxpy.toml", gpu="a100")
    result.metric("gpu.time")     # 2345.0
    result.frame()                # one row a kernel, as pandas.DataFrame

The functions are the studies of the tool, their parameters its options (help(simtlab.run), docs/guide/python.md). Other threads of Python go on while
one runs. Nothing is printed.
"""
from ._simtlab import version as _version
from .call import Activity, explain
from .commands import *  # noqa: F401,F403
from .commands import __all__ as _commands
from .errors import (
    CheckError,
    Error,
    InputError,
    Interrupted,
    Place,
    ProgramError,
    UnavailableError,
    UnsupportedError,
    UsageError,
)
from .result import Result, load

__version__ = _version()
__all__ = [
    *_commands,
    "Activity",
    "CheckError",
    "Error",
    "InputError",
    "Interrupted",
    "Place",
    "ProgramError",
    "Result",
    "UnavailableError",
    "UnsupportedError",
    "UsageError",
    "explain",
    "load",
]
