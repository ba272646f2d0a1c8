// Package python holds the Python modules that graft gives to the programs that it starts.
package python

import _ "embed"

// Job is the source text of graft_job.py, the Python module through which graft controls a PyTorch training loop.
//
//go:embed graft_job.py
var Job []byte
