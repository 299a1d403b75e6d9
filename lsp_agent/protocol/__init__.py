"""The types of everything that leaves the process or passes between layers."""
