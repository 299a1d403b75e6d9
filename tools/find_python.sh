#!/bin/sh
# Prints the first Python that can hold the virtual environment, or says on stderr what is missing.
# An argument names the one to use.
set -eu

check='
import sys
version = ".".join(map(str, sys.version_info[:3]))
if sys.version_info < (3, 11):
    sys.exit(f"{sys.executable} is {version}, and 3.11 or newer is needed")
try:
    import ensurepip, venv
except ImportError as error:
    sys.exit(f"{sys.executable} ({version}) lacks {error.name}: on Debian, apt install python3-venv")
print(sys.executable)
'

found=
for candidate in ${1:-python3 python3.14 python3.13 python3.12 python3.11}; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if answer=$("$candidate" -c "$check" 2>&1); then
        printf '%s\n' "$answer"
        exit 0
    fi
    found="$found
  $(printf '%s' "$answer" | tail -n 1)"
done

if [ -n "$found" ]; then
    printf 'No usable Python:%s\n' "$found" >&2
else
    printf 'No %s on PATH.\n' "${1:-python3}" >&2
fi
echo 'Install Python 3.11 or newer with its venv module, or say which: make PYTHON=/path/to/python3' >&2
exit 1
