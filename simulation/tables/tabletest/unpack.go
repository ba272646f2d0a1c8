package tabletest

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Unpack unpacks an archive of tables, and returns the folder.
func Unpack(t testing.TB, path string) string {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	packed, err := gzip.NewReader(file)
	require.NoError(t, err)
	dir, archive := t.TempDir(), tar.NewReader(packed)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return dir
		}
		require.NoError(t, err)
		to := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(to, 0o755))
			continue
		}
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, content, 0o600))
	}
}
