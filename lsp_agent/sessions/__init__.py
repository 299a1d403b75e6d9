"""Sessions and turns: joins agents/ and workspace/."""
