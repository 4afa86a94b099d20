"""Pure mathematics: arrays in and out, NumPy and SciPy only."""
