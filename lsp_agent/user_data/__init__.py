"""What lies in a person's own folders: where, for whom alone, and whose files are believed."""
