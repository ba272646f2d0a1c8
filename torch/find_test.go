package torch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCandidatesAreAbsolute(t *testing.T) {
	for name, c := range map[string]struct {
		program, source string
		want            []string
	}{
		"built in the tree": {"/src/graft/bin/graft", "/src/graft/torch/find.go",
			[]string{"/src/graft/bin", "/src/graft/build/lib", "/src/graft/lib/graft", "/src/graft/build/lib"}},
		"installed": {"/usr/bin/graft", "graft/torch/find.go",
			[]string{"/usr/bin", "/usr/build/lib", "/usr/lib/graft"}},
		"a test": {"/tmp/go-build1/torch.test", "/src/graft/torch/find.go",
			[]string{"/tmp/go-build1", "/src/graft/build/lib"}},
		"another module's program":  {"/opt/tool/tool", "graft@v0.0.0/torch/find.go", []string{"/opt/tool"}},
		"a shared folder's program": {"/tmp/graft/graft", "graft/torch/find.go", []string{"/tmp/graft"}},
		"an unknown program":        {"", "graft/torch/find.go", nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := make([]string, len(c.want))
			for k, folder := range c.want {
				want[k] = folder + "/" + libraryName
			}
			require.Equal(t, want, candidates(c.program, c.source))
		})
	}
}

// plantedLibrary compiles a library whose constructor creates a file.
func plantedLibrary(t *testing.T, mark string) string {
	source := filepath.Join(t.TempDir(), "planted.c")
	require.NoError(t, os.WriteFile(source, []byte(`#include <stdio.h>
__attribute__((constructor)) static void planted(void) { fclose(fopen("`+mark+`", "w")); }`), 0o600))
	library := filepath.Join(filepath.Dir(source), libraryName)
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return library
}

// opens runs a program that opens LibTorch in a folder, and returns its output: the library or the error.
func opens(t *testing.T, program, folder string, env ...string) string {
	command := exec.Command(program)
	command.Dir = folder
	command.Env = append(append(os.Environ(), LibraryVariable+"="), env...)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// A program built with -trimpath, as releases are, opens no library below the current folder. If a library cannot be
// opened, no other library replaces it.
func TestTheCurrentFolderHoldsNoLibrary(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	library := plantedLibrary(t, mark)
	program := filepath.Join(dir, "bin", "opens")
	out, err := exec.Command("go", "build", "-trimpath", "-o", program, "graft/torch/testdata/opens").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, folder := range []string{"graft/build/lib", "graft/torch/build/lib", "build/lib", "bin", "lib/graft", "."} {
		planted := filepath.Join(dir, "current", folder)
		require.NoError(t, os.MkdirAll(planted, 0o700))
		require.NoError(t, os.Link(library, filepath.Join(planted, libraryName)))
	}
	current := filepath.Join(dir, "current")
	require.Contains(t, opens(t, program, current), "find LibTorch: "+libraryName+" not found; looked in "+dir)
	for _, path := range []string{"graft/build/lib/" + libraryName, libraryName} {
		require.Contains(t, opens(t, program, current, LibraryVariable+"="+path),
			"open LibTorch "+path+": GRAFT_LIBRARY is a relative path")
	}

	// A link to itself exists and cannot be opened, not even by root.
	own := filepath.Join(dir, "bin", libraryName)
	require.NoError(t, os.Symlink(own, own))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "lib/graft"), 0o700))
	require.NoError(t, os.Link(library, filepath.Join(dir, "lib/graft", libraryName)))
	require.Contains(t, opens(t, program, current), "open LibTorch "+own)
	require.NoFileExists(t, mark, "a planted library ran")

	require.NoError(t, os.Remove(own))
	opens(t, program, current)
	require.FileExists(t, mark, "the library that is installed is opened, so this test can fail")
}
