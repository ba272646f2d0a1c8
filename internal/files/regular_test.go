package files_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// special makes a file of each kind that could block a reader or never end.
func special(t *testing.T, folder string) map[string]string {
	fifo, socket := filepath.Join(folder, "fifo"), filepath.Join(folder, "socket")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	t.Chdir(folder) // keeps the path of the socket short
	listener, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	link := filepath.Join(folder, "link")
	require.NoError(t, os.Symlink("fifo", link))
	return map[string]string{fifo: "FIFO", socket: "socket", "/dev/zero": "device", folder: "folder", link: "FIFO"}
}

// Files that are not regular are refused at once, even a FIFO without a writer.
func TestOpenRefusesWhatIsNoRegularFile(t *testing.T) {
	folder := t.TempDir()
	for path, kind := range special(t, folder) {
		for _, fsys := range []files.FS{files.OS{}, files.Beneath("/")} {
			_, err := fsys.Open(path)
			require.ErrorIs(t, err, files.ErrNotRegular, path)
			assert.ErrorContains(t, err, "open "+path+": the path is a "+kind)
		}
		_, err := files.OS{}.Append(path)
		assert.ErrorIs(t, err, files.ErrNotRegular, path)
		_, err = files.OS{}.Lock(path, "us")
		assert.Error(t, err, path)
		if kind != "folder" {
			assert.Error(t, files.OS{}.SyncDir(path), path)
		}
	}
}

func TestReadAllOfAFileThatHasNoSize(t *testing.T) {
	text, err := files.ReadAll(files.OS{}, "/proc/self/cmdline", 1<<20)
	require.NoError(t, err)
	assert.NotEmpty(t, text)
}
