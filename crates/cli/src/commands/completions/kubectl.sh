#!/bin/sh
# Completion of "kubectl sexton": an executable file kubectl_complete-sexton on the PATH, beside kubectl-sexton.
exec kubectl-sexton complete -- "$@" 2>/dev/null
