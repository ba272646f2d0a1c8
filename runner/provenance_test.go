package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

func TestASourceIsNamedOnce(t *testing.T) {
	const revision = "90dfba2e5a1c0123456789abcdef0123456789ab"
	for want, info := range map[string]versionInfo{
		"(devel)":                                {Version: "(devel)", Revision: unknown},
		"(devel), revision 90dfba2e5a1c":         {Version: "(devel)", Revision: revision},
		"1.2.3, revision 90dfba2e5a1c, modified": {Version: "1.2.3", Revision: revision, Modified: true},
		"v0.0.0-20260102030405-90dfba2e5a1c+dirty": {Version: "v0.0.0-20260102030405-90dfba2e5a1c+dirty",
			Revision: revision, Modified: true},
		"(devel), revision 90d": {Version: "(devel)", Revision: "90d"},
	} {
		assert.Equal(t, want, info.source())
	}
}

// buildGraft builds graft with flags, and returns its path.
func buildGraft(t *testing.T, flags ...string) string {
	program := filepath.Join(t.TempDir(), "graft")
	out, err := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), ".")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// Runs and their pages name graft's commit, as 'make' stamps it and as a plain 'go build' records it.
func TestRunsNameTheirRevision(t *testing.T) {
	longOnly(t, "two builds of the program")
	t.Parallel() // it waits for processes
	stamped := buildGraft(t, "-buildvcs=false", "-ldflags",
		"-s -w -X main.revision=abcdef0123456789 -X main.modified=true")
	requireProvenance(t, stamped, "abcdef0123456789", true)

	if info, err := os.Stat("../.git"); err != nil || !info.IsDir() {
		t.Skip("left out: this is no clone, so a build records no revision")
	}
	plain := buildGraft(t, "-buildvcs=true", "-ldflags", "-s -w")
	record, err := exec.Command("go", "version", "-m", plain).Output()
	require.NoError(t, err)
	revision := regexp.MustCompile(`vcs\.revision=([0-9a-f]{40})`).FindStringSubmatch(string(record))
	require.Len(t, revision, 2, "%s", record)
	requireProvenance(t, plain, revision[1], strings.Contains(string(record), "vcs.modified=true"))
}

// requireProvenance runs a job and its page with a program, and checks the revision in both.
func requireProvenance(t *testing.T, program, revision string, modified bool) {
	dir := t.TempDir()
	folder, page := filepath.Join(dir, "run"), filepath.Join(dir, "page.html")
	out, err := exec.Command(program, brief(folder)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	m, err := results.ReadManifest(files.OS{}, folder)
	require.NoError(t, err)
	require.Equal(t, []any{revision, modified}, []any{m.Revision, m.Modified})
	require.Contains(t, m.Graft, revision[:revisionDigits])

	out, err = exec.Command(program, "report", folder, "--html", page).CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, repeat, found := strings.Cut(contents(t, page), "How to reproduce this run")
	require.True(t, found)
	require.Contains(t, repeat, revision[:revisionDigits])
}
