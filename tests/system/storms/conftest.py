"""Uses the scripted editor of the workspace's tests."""
