package torch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// LibraryVariable is the environment variable for the absolute path of graft's LibTorch library, libgrafttorch.so. If
// the variable is set, graft tries no other path.
const LibraryVariable = "GRAFT_LIBRARY"

const libraryName = "libgrafttorch.so"

// find searches for the library next to the program, in the build folder and in the install folder. It returns the
// first one that exists, even if it cannot be read: another one is not a substitute.
func find() (string, error) {
	if path := os.Getenv(LibraryVariable); path != "" {
		return path, checkAbsolute(path)
	}
	program, _ := os.Executable()
	_, source, _, _ := runtime.Caller(0)
	tried := candidates(program, source)
	for _, path := range tried {
		if !missing(path) {
			return path, nil
		}
	}
	return "", &Error{Op: "find LibTorch", kind: ErrNotLoaded,
		Cause:  fmt.Errorf("%s not found; looked in %s", libraryName, strings.Join(tried, ", ")),
		Remedy: "run 'make library' in graft's folder, or set " + LibraryVariable + " to its path"}
}

// checkAbsolute rejects a path that depends on the current folder or the loader's search path.
func checkAbsolute(path string) error {
	if filepath.IsAbs(path) {
		return nil
	}
	return &Error{Op: "open LibTorch", Subject: path, kind: ErrNotLoaded,
		Cause: errors.New(LibraryVariable + " is a relative path"), Remedy: "set it to an absolute path"}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// candidates returns the possible paths of the library for a program that was built from a source file of this package.
// All are absolute: a relative one would open a file of the current folder.
func candidates(program, source string) []string {
	var folders []string
	if here := filepath.Dir(program); filepath.IsAbs(program) {
		folders = append(folders, here)
		// Only next to a bin folder: the parent of another folder may be writable by everybody.
		if filepath.Base(here) == "bin" {
			folders = append(folders, filepath.Join(here, "../build/lib"), filepath.Join(here, "../lib/graft"))
		}
	}
	// A test's executable lies in a temporary folder; its source lies next to the build folder. With -trimpath the
	// compiler records a path that starts with the module's name instead.
	if filepath.IsAbs(source) {
		folders = append(folders, filepath.Join(filepath.Dir(source), "../build/lib"))
	}
	paths := make([]string, len(folders))
	for k, folder := range folders {
		paths[k] = filepath.Join(folder, libraryName)
	}
	return paths
}
