"""What if: sweep, tornado, solve, compare, uncertainty, for every attack alike."""
