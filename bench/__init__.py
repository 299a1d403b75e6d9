"""Measures lsp-agent against floors that run in the same rounds: ``python -m bench``."""
