package app

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/files/faults"
)

// A command refuses an unwritable path before it starts its work.
func TestMayWriteFile(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, "there")
	require.NoError(t, os.WriteFile(there, nil, 0o600))
	for name, c := range map[string]struct {
		path  string
		force bool
		says  string
		code  failure.Code
	}{
		"a new file":           {filepath.Join(folder, "new"), false, "", failure.Done},
		"a file that is there": {there, false, `option "force"`, failure.Usage},
		"to be replaced":       {there, true, "", failure.Done},
		"a folder":             {folder, true, "is a folder; expected a file", failure.Usage},
		"in a missing folder": {filepath.Join(folder, "none", "new"), true, "create it, or choose another",
			failure.Failed},
	} {
		err := MayWriteFile(files.OS{}, c.path, c.force)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
		require.Equal(t, c.code, failure.CodeOf(context.Background(), err), name)
	}
}

// A full disk is noticed before the work. A file that the work replaces is unchanged.
func TestMayWriteNoticesAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "there")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	for n := range 3 {
		err := MayWriteFile(faults.New(files.OS{}, n+1, faults.DiskFull), path, true)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, "free space")
	}
	require.NoError(t, MayWriteFile(files.OS{}, path, true))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
}
