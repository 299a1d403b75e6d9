"""Editors' own configuration files, for ``lsp-agent setup``.

``recipes`` says what an editor needs, as changes of files (``changes``, which also writes them,
keeps what was there and takes it back). Texts are changed where that is provably safe alone:
``blocks`` between marks of ours, ``jsonc`` and ``tables`` in a form that is read again afterwards.
Nothing here asks a person or prints.
"""
