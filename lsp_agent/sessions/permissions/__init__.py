"""Who may do what: from the settings, a person's earlier answers, and what a repository brings.

``judge`` decides (pure but for where paths lead), ``consent`` asks where it cannot. Owned by each
session; what is granted ends with it. Nothing is run or written here.
"""
