"""Run every benchmark in this folder, one after another: `python -m benchmarks`."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent
wanted = sys.argv[1:] or sorted(p.stem for p in HERE.glob("[a-z]*.py"))
for name in wanted:
    print(f"\n== {name} ==", flush=True)
    sys.argv = [name]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
