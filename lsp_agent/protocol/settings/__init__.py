"""The settings: their shape, the files and other sources that they come from, and their words."""
