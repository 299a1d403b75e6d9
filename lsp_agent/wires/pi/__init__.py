"""pi's rpc wire, and the extension of ours that hosts it (``host.ts``). ``wire`` is the door."""
