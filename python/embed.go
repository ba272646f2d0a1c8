// Package python holds the Python modules that graft gives to the programs that it starts.
package python

import _ "embed"

// Job is the text of graft_job.py.
//
//go:embed graft_job.py
var Job []byte
