"""The review as standard LSP shows it: code actions, lenses, hints, previews.

``review_ui`` is the door; ``open_review`` finds what there is to review. Decides nothing: keep
and undo are ``workspace/review``.
"""
