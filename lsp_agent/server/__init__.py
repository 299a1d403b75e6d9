"""The LSP face: the only place that imports pygls or lsprotocol.

``face.Face`` is one client's connection: tables of handlers, requests to the client, ``run``.
Below it ``transport`` and ``frames`` (bytes), ``protocol`` (messages, tasks, errors by
``rpc_error``) and ``capabilities``. Beside it what is built on its ``ask`` and ``notify``:
``editor_port`` with ``barrier``, ``progress``, ``events``, ``ask_person``, ``settings_pull``.

This package imports nothing by itself, so that ``startup.begun`` can come before the rest.
"""
