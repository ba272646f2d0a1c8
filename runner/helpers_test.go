package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
)

var updateGolden = flag.Bool("update", false, "write the golden files again")

// outcome holds the exit code and output of a command line.
type outcome struct {
	code           failure.Code
	stdout, stderr string
}

// call runs a command line on a command tree.
func call(ctx context.Context, root *cobra.Command, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := execute(ctx, root, args, &stdout, &stderr)
	holdToPage(args, stdout.String())
	holdToKinds(args)
	return outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

// graft runs a command line of the real program.
func graft(args ...string) outcome {
	return call(context.Background(), newRootCommand(), args...)
}

// longTests reports whether tests run at full length, as 'make test-long' runs them.
var longTests = os.Getenv("GRAFT_LONG") != ""

// longOnly skips a test of 'make test-long'.
func longOnly(t testing.TB, what string) {
	t.Helper()
	if !longTests {
		t.Skip("left out: " + what + "; set GRAFT_LONG=1")
	}
}

// done runs a command line that must succeed.
func done(t testing.TB, args ...string) outcome {
	t.Helper()
	return ends(t, graft(args...), failure.Done, "")
}

// fails runs a command line that must end with a code and an error that contains a text.
func fails(t testing.TB, code failure.Code, says string, args ...string) outcome {
	t.Helper()
	return ends(t, graft(args...), code, says)
}

// ends checks the exit code of a command line, and that its error contains a text.
func ends(t testing.TB, o outcome, code failure.Code, says string) outcome {
	t.Helper()
	require.Equal(t, code, o.code, o.stderr)
	require.Contains(t, o.stderr, says)
	return o
}

// wrongCall is a command line that fails.
type wrongCall struct {
	args []string
	code failure.Code
	says string // part of its error
}

// allFail runs command lines that must fail and print nothing. All start with the same words.
func allFail(t *testing.T, command string, calls map[string]wrongCall) {
	t.Helper()
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, fails(t, c.code, c.says, append(strings.Fields(command), c.args...)...).stdout)
		})
	}
}

// must runs a command line that must succeed, and returns its output.
func must(t testing.TB, line string) string {
	t.Helper()
	return done(t, append(strings.Fields(line), "--quiet")...).stdout
}

// object runs a command line that must print a JSON object, and decodes it.
func object[T any](t testing.TB, line string) T {
	t.Helper()
	return decoded[T](t, must(t, line+" --json"))
}

// decoded decodes a JSON object.
func decoded[T any](t testing.TB, text string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

// contents reads a file.
func contents(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// write writes a file and its folder, and returns its path.
func write(t testing.TB, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// openRun reads a run folder.
func openRun(t testing.TB, path string) *runs.Run {
	t.Helper()
	r, err := runs.Open(files.OS{}, path)
	require.NoError(t, err)
	return r
}

// containsAll checks that a text, list or map contains each part.
func containsAll(t testing.TB, text any, parts ...string) {
	t.Helper()
	for _, part := range parts {
		require.Contains(t, text, part)
	}
}

// sameFiles checks that two folders have the same bytes in each of these files.
func sameFiles(t testing.TB, want, got string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Equal(t, contents(t, filepath.Join(want, name)), contents(t, filepath.Join(got, name)), name)
	}
}

// golden compares a text with a file in testdata, from any working directory.
func golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join(testdata, name)
	if *updateGolden {
		write(t, path, got)
	}
	require.Equal(t, contents(t, path), got, "look at %s, then write it again with -update", name)
}

// goldenCall is a command line and its expected exit code.
type goldenCall struct {
	args string
	code failure.Code
}

// goldenScreens compares the output of command lines with golden files, by file name. All start with the same words.
// TABLES stands for the path home; empty replaces nothing.
func goldenScreens(t *testing.T, folder, command, home string, screens map[string]goldenCall) {
	t.Helper()
	for name, c := range screens {
		t.Run(name, func(t *testing.T) {
			o := fails(t, c.code, "", strings.Fields(command+" "+c.args)...)
			if c.code != failure.Done {
				o.stdout += "-- on stderr --\n" + o.stderr
			}
			if home != "" {
				o.stdout = strings.ReplaceAll(o.stdout, home, "TABLES")
			}
			golden(t, folder+"/"+name, o.stdout)
		})
	}
}

// testdata is the absolute path of the golden files.
var testdata = func() string {
	path, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	return path
}()
