package world

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace/tracetest"
	"graft/internal/files"
)

// Files of elastic jobs are JSON objects, even damaged ones. All others are cluster traces.
func TestKindsOfTraces(t *testing.T) {
	is := func(name, text string) bool {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		clustered, err := isClusterTrace(files.OS{}, path)
		require.NoError(t, err)
		return clustered
	}
	for name, text := range map[string]string{"a.csv": "\ufeff\n {\"jobs\": []}", "b.json": "garbage", "c.json": ""} {
		require.False(t, is(name, text), name)
	}
	for name, text := range map[string]string{"a.csv": tracetest.Helios, "b.json": tracetest.Philly, "c": "",
		"d.swf": tracetest.SWF} {
		require.True(t, is(name, text), name)
	}
}
