;;; lsp-agent.el --- A coding agent in your buffers, through Eglot -*- lexical-binding: t -*-

;; Author: The lsp-agent maintainers
;; Version: 0.1.0
;; Package-Requires: ((emacs "30.1"))
;; Keywords: tools, languages
;; URL: https://github.com/lsp-agent/lsp-agent
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Needs the program `lsp-agent' (`uv tool install lsp-agent').  `M-x eglot' starts it in a buffer;
;; `C-c a p' then asks the agent, `C-c a a' has everything else.  docs/editors/emacs.md says more.

;;; Code:

(require 'cl-lib)
(require 'eglot)

(defgroup lsp-agent nil
  "A coding agent in your buffers."
  :group 'eglot
  :prefix "lsp-agent-")

(defcustom lsp-agent-program "lsp-agent"
  "The program, by its name or its path.  Set it before the package is loaded."
  :type 'string)

(defcustom lsp-agent-modes '(prog-mode text-mode conf-mode)
  "The modes whose buffers the agent is for.  Set it before the package is loaded.
Eglot has one server a buffer: in these it is this one."
  :type '(repeat symbol))

(defcustom lsp-agent-prefix "C-c a"
  "The key before those of `lsp-agent-map', where Eglot is; nil for none.
Set it before the package is loaded."
  :type '(choice key (const nil)))

(defclass lsp-agent-server (eglot-lsp-server)
  ((waiting :initform nil :accessor lsp-agent--waiting))
  "A running lsp-agent; WAITING are the tokens of what waits for the person's answer.")

(add-to-list 'eglot-server-programs
             `(,lsp-agent-modes . (lsp-agent-server ,lsp-agent-program "serve")))

;; Eglot sends what is typed only when the person pauses, so an edit could land on words that the
;; server has not heard of.  It therefore sends everything before an edit, after it, and when asked.
(defun lsp-agent--send-typing (server)
  "Send SERVER what was typed in its buffers."
  (dolist (buffer (eglot--managed-buffers server))
    (with-current-buffer buffer (eglot--signal-textDocument/didChange))))

(cl-defmethod eglot-handle-request :before
  ((server lsp-agent-server) (_method (eql workspace/applyEdit)) &rest _)
  "Send SERVER what was typed before its edit."
  (lsp-agent--send-typing server))

(cl-defmethod eglot-handle-request :after
  ((server lsp-agent-server) (_method (eql workspace/applyEdit)) &rest _)
  "Send SERVER its own edit at once."
  (lsp-agent--send-typing server))

(cl-defmethod eglot-handle-request
  ((server lsp-agent-server) (_method (eql agent/sync)) &rest _)
  "Send SERVER what was typed."
  (lsp-agent--send-typing server)
  eglot--{})

(cl-defmethod eglot-handle-request
  ((server lsp-agent-server) (_method (eql agent/saveDocument))
   &key uri version &allow-other-keys)
  "Save the buffer of URI for SERVER, where it is still at VERSION.
What was saved before the agent's edit is saved after it;
what was typed since is not, and nothing that Emacs would ask about:
whoever types would answer."
  (lsp-agent--send-typing server)
  (let ((buffer (find-buffer-visiting (eglot-uri-to-path uri))))
    (when buffer
      (with-current-buffer buffer
        (when (or (null version)
                  (eql version (plist-get (eglot--VersionedTextDocumentIdentifier) :version)))
          (let ((inhibit-interaction t))
            (save-window-excursion ; an explanation comes before the question
              (condition-case nil (save-buffer) (inhibited-interaction nil)))))))
    `(:saved ,(if (and buffer (not (buffer-modified-p buffer))) t :json-false))))

;; Emacs asks what to do with a buffer whose file has changed on disk as soon as it is edited, and
;; would take what the person is typing for the answer.
(defun lsp-agent--read-again (uri)
  "Show what the file of URI holds now.
Nil where it is shown, or where something is unsaved."
  (let ((buffer (find-buffer-visiting (eglot-uri-to-path uri))))
    (unless (or (null buffer) (buffer-modified-p buffer) (verify-visited-file-modtime buffer)
                (not (file-exists-p (buffer-file-name buffer))))
      (with-current-buffer buffer (revert-buffer t t t))
      t)))

;; So would it who is to have a file that another Emacs is changing.
(cl-defmethod eglot-handle-request :around
  ((_server lsp-agent-server) (_method (eql workspace/applyEdit)) &key edit &allow-other-keys)
  "Apply EDIT without a question about a file, or read that again first."
  (let ((query-about-changed-file nil))
    (if (cl-loop for change across (plist-get edit :documentChanges)
                 thereis (lsp-agent--read-again
                          (plist-get (plist-get change :textDocument) :uri)))
        '(:applied :json-false :failureReason "The file had changed on disk, and was read again")
      (condition-case locked
          (cl-letf (((symbol-function 'ask-user-about-lock)
                     (lambda (&rest told) (signal 'file-locked told))))
            (cl-call-next-method))
        (file-locked
         `(:applied :json-false
           :failureReason ,(apply #'format "%s is being changed by %s" (cdr locked))))))))

(cl-defmethod eglot-handle-request
  ((server lsp-agent-server) (_method (eql agent/reloadDocument)) &key uri &allow-other-keys)
  "Take the text of URI from the disk for SERVER, where nothing of it is unsaved."
  (lsp-agent--send-typing server)
  `(:reloaded ,(if (lsp-agent--read-again uri) t :json-false)))

;; Eglot asks for inlay hints only where a text has changed, and those of a conversation go on.
(cl-defmethod eglot-handle-request
  ((server lsp-agent-server) (_method (eql workspace/inlayHint/refresh)) &rest _)
  "Ask SERVER again for the hints of its buffers that are shown."
  (dolist (buffer (eglot--managed-buffers server))
    (with-current-buffer buffer
      (when (and eglot-inlay-hints-mode (get-buffer-window buffer t))
        (eglot--update-hints-1 (point-min) (point-max))))))

;; The message of a question is gone with the next one, which may come at once.
(cl-defmethod eglot-handle-notification :after
  ((server lsp-agent-server) (_method (eql $/progress)) &key token value)
  "Note whether what has TOKEN waits for an answer, as VALUE says."
  (let ((others (remove token (lsp-agent--waiting server)))
        (waits (equal (plist-get value :message) "waits for your answer")))
    (setf (lsp-agent--waiting server) (if waits (cons token others) others))
    (force-mode-line-update t)))

(defun lsp-agent--asks ()
  "What the mode line says while the agent waits for an answer."
  (let ((server (eglot-current-server)))
    (when (and (cl-typep server 'lsp-agent-server) (lsp-agent--waiting server))
      (propertize (substitute-command-keys " Agent asks: \\[eglot-code-actions]") 'face 'warning))))

(add-to-list 'mode-line-misc-info '(:eval (lsp-agent--asks)))

(cl-defmethod eglot-client-capabilities :around ((_server lsp-agent-server))
  "Say that it is sent what is typed, and files are saved and reread for it."
  (let* ((all (copy-sequence (cl-call-next-method)))
         (workspace (copy-sequence (plist-get all :workspace))))
    (setq workspace (plist-put workspace :inlayHint '(:refreshSupport t)))
    (setq all (plist-put all :workspace workspace))
    (plist-put all :experimental '(:agent (:sync t :save t :reload t)))))

(defun lsp-agent--run (name &optional argument)
  "Run the command NAME of the server's, with ARGUMENT."
  (eglot-execute (eglot--current-server-or-lose)
                 (list :command (concat "lspAgent." name)
                       :arguments (if argument (vector argument) []))))

;;;###autoload
(defun lsp-agent-prompt (text)
  "Ask the agent for TEXT, with the region or else the buffer as context."
  (interactive "sAsk the agent: ")
  (let ((here (eglot--TextDocumentIdentifier)))
    (when (use-region-p)
      (setq here (append here (list :range
                                    (list :start (eglot--pos-to-lsp-position (region-beginning))
                                          :end (eglot--pos-to-lsp-position (region-end)))))))
    (lsp-agent--run "prompt" `(:text ,text :context [,here]))))

(defun lsp-agent-stop ()
  "Stop the agent."
  (interactive)
  (lsp-agent--run "abort"))

(defun lsp-agent-next ()
  "Go to the agent's next change."
  (interactive)
  (lsp-agent--run "nextChange"))

(defun lsp-agent-chat ()
  "Show the conversation with the agent: the last section is the prompt."
  (interactive)
  (lsp-agent--run "openChat"))

(defun lsp-agent-send ()
  "Send the prompt that stands at the end of this conversation."
  (interactive)
  (lsp-agent--run "sendChat" (eglot--TextDocumentIdentifier)))

;; Of itself Emacs has no mode for Markdown, and Eglot serves no buffer without one.
(define-derived-mode lsp-agent-chat-mode text-mode "Chat"
  "A conversation with the agent."
  (setq-local outline-regexp "## "))

(defun lsp-agent--chat-mode ()
  "Take the mode for Markdown that there is, or our own."
  (if (fboundp 'markdown-mode) (funcall 'markdown-mode) (lsp-agent-chat-mode)))

(add-to-list 'auto-mode-alist '("\\.chat\\.md\\'" . lsp-agent--chat-mode))

(defvar-keymap lsp-agent-map
  :doc "Commands for the agent, behind `lsp-agent-prefix'."
  "a" #'eglot-code-actions
  "p" #'lsp-agent-prompt
  "c" #'lsp-agent-chat
  "RET" #'lsp-agent-send
  "s" #'lsp-agent-stop
  "n" #'lsp-agent-next)

(when lsp-agent-prefix
  (keymap-set eglot-mode-map lsp-agent-prefix lsp-agent-map))

(provide 'lsp-agent)
;;; lsp-agent.el ends here
