rockspec_format = "3.0"
package = "lsp-agent"
version = "scm-1"
source = {
  url = "git+https://github.com/lsp-agent/lsp-agent.git",
  branch = "neovim",
}
description = {
  summary = "A coding agent in your buffers",
  homepage = "https://github.com/lsp-agent/lsp-agent",
  license = "MIT",
  labels = { "neovim" },
}
dependencies = { "lua == 5.1" }
build = {
  type = "builtin",
  copy_directories = { "doc", "ftplugin", "lsp", "plugin" },
}
