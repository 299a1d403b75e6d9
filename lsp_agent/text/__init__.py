"""Documents as line lists, diffs, merges: pure values and functions, no I/O."""
