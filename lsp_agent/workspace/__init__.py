"""What the editor shows and what is on disk."""
