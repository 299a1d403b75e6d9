"""The floor of a keystroke: takes frames off stdin, decodes them, answers requests."""

import os
import re

import orjson

_LENGTH = re.compile(rb"Content-Length: (\d+)\r\n\r\n")


def main() -> None:
    buffer = b""
    while chunk := os.read(0, 65536):
        buffer += chunk
        at = 0
        while (header := _LENGTH.match(buffer, at)) and len(buffer) >= header.end() + int(
            header[1]
        ):
            at = header.end() + int(header[1])
            message = orjson.loads(buffer[header.end() : at])
            if "id" in message:
                body = orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None})
                os.write(1, b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        buffer = buffer[at:]


if __name__ == "__main__":
    main()
