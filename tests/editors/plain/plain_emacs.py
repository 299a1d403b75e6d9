"""Emacs with Eglot, set up by `lsp-agent setup emacs`, with a person's own keys."""

import re
import subprocess
import time

from plain_project import PlainProject
from plain_terminal import FETCHED, UNREAD, Terminal, until

#: No files beside those of the project; a typed space is one also where names are completed.
OWN = """
(setq inhibit-startup-screen t make-backup-files nil create-lockfiles nil auto-save-default nil)
(keymap-unset minibuffer-local-completion-map "SPC")
(setq eglot-report-progress 'messages)
(defvar quits 0)
(setq command-error-function
      (lambda (data context caller)
        (when (memq (car data) '(quit minibuffer-quit)) (setq quits (1+ quits)))
        (command-error-default-function data context caller)))
(setq-default mode-line-misc-info '((:eval (format "quits:%d" quits))))
"""


#: Eglot without our package.
ALONE = """
(add-to-list 'auto-mode-alist '("\\\\.md\\\\'" . text-mode))
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(text-mode . ("lsp-agent" "serve"))))
"""


class Emacs(Terminal):
    def __init__(
        self,
        project: PlainProject,
        shows: str = "agent: nap",
        file: str = "notes.txt",
        *,
        alone: bool = False,
    ) -> None:
        """``alone``: without our package."""
        project.write("emacs/init.el", OWN + (ALONE if alone else ""))
        if not alone:
            subprocess.run(
                ["lsp-agent", "setup", "emacs", "--yes"],
                env=project.environment,
                check=True,
                capture_output=True,
            )
        init = project.config / "emacs" / "init.el"
        program = FETCHED / "emacs" / "bin" / "emacs"
        command = [program, "-nw", "-q", "-l", init, file]
        super().__init__(command, project.folder, project.environment)
        self.wait_for(shows)
        self.keys("M-x")
        self.type("eglot")
        self.keys("Enter")
        self.wait_for("Connected!")

    def keys(self, *keys: str) -> None:
        """After C-g also waits until it has been taken: busy, Emacs throws away what is typed
        behind it, the C-c of a command too, and makes text of the rest."""
        before = self._quits
        super().keys(*keys)
        if keys[-1] == "C-g":
            until(lambda: self._quits > before, 2)

    @property
    def _quits(self) -> int:
        shown = re.search(r"quits:(\d+)", self.screen)
        return int(shown[1]) if shown else 0

    def go_to(self, line: int) -> None:
        self.keys("M-g", "g")
        self.wait_for("Goto line")
        self.type(f"{line}")
        self.keys("Enter")
        self.wait_for(f"L{line} ")

    def choose(self, line: int | None, title: str) -> None:
        """The action with this title, at a line or where point is; asks again until it is there."""
        if line is not None:
            self.go_to(line)
        assert until(lambda: self._chosen(title)), self.screen

    def _chosen(self, title: str) -> bool:
        self.keys("C-c", "a", "a")
        ends = ("Pick an action", "No code actions", "Timed out")  # eglot waits for 10 s
        screen = self.wait_for(lambda s: any(end in s for end in ends))
        if "Pick an action" not in screen:
            self.keys("C-g")
            return False
        self.type(title)
        self.wait_for(title)  # all of it, or a message that comes meanwhile takes the Enter
        time.sleep(UNREAD)
        self.keys("Enter")
        screen = self.wait_for(lambda s: "[No match]" in s or "Pick an action" not in s)
        if "[No match]" in screen:
            self.keys("C-g")
        return "[No match]" not in screen

    def save(self) -> None:
        self.keys("C-x", "C-s")

    def confirm(self, question: str) -> None:
        """Says yes to what Emacs itself asks. What fails in a process filter throws away the keys
        that wait to be read: whoever sees the question still there presses Enter again."""
        self.wait_for(question)
        self.type("yes")
        self.wait_for("(yes or no) yes")
        assert until(lambda: self._confirmed(question)), self.screen

    def _confirmed(self, question: str) -> bool:
        self.keys("Enter")
        return until(lambda: question not in self.screen, 5)

    def wait_for_message(self, text: str) -> None:
        """Also one that has given way to the next by now: all of them are in a buffer."""
        self.keys("C-h", "e")
        self.wait_for(text)
        self.keys("C-x", "1")
