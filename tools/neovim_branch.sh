#!/bin/sh
# Writes the branch `neovim` of this repository: the last commit's plugin for Neovim, with its root
# where a plugin manager looks for it, since none takes a folder of a repository. Each run that finds
# something new puts a commit on top, so who has the branch brings it up to date as any other.
#
# usage: tools/neovim_branch.sh
set -eu
cd "$(dirname "$0")/.."

home=$(sed -n 's/^Repository = "\(.*\)"$/\1/p' pyproject.toml)
branch=refs/heads/neovim
GIT_INDEX_FILE=$(mktemp -u)
export GIT_INDEX_FILE
trap 'rm -f "$GIT_INDEX_FILE"' EXIT

put() { # PATH, its text on stdin
    git update-index --add --cacheinfo "100644,$(git hash-object -w --stdin),$1"
}

git read-tree HEAD:editors/neovim
git show HEAD:LICENSE | put LICENSE
# What lies beside the plugin in the whole repository is not beside it here.
git show HEAD:editors/neovim/README.md | sed "s#(\.\./\.\./#($home/blob/main/#g" | put README.md

tree=$(git write-tree)
last=$(git rev-parse --verify --quiet "$branch" || true)
if [ -n "$last" ] && [ "$(git rev-parse "$last^{tree}")" = "$tree" ]; then
    echo 'neovim: nothing new'
    exit
fi
said="Take the plugin of $(git describe --tags --always HEAD)"
# shellcheck disable=SC2086 # no parent, or one
commit=$(git commit-tree ${last:+-p "$last"} -m "$said" "$tree")
git update-ref "$branch" "$commit" "$last"
echo "neovim: $said"
