package simulate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/runner/simulate"
	"graft/runner/worktest"
)

// reading counts the openings of a file.
type reading struct {
	files.FS
	path  string
	count int
}

func (r *reading) Open(path string) (files.File, error) {
	if path == r.path {
		r.count++
	}
	return r.FS.Open(path)
}

// A simulation that is run again loads its images only if their files may have changed.
func TestUnchangedImagesAreNotLoadedAgain(t *testing.T) {
	dir := t.TempDir()
	file, csv := filepath.Join(dir, "late.toml"), filepath.Join(dir, "t.csv")
	text := strings.Replace(scenario[strings.Index(scenario, "[train]"):], "deepen:conv1", "none", 1)
	require.NoError(t, os.WriteFile(file, []byte("[network]\nname = \"SmallBERT\"\n[data]\nkind = \"csv\"\npath = \""+
		csv+"\"\ncontext = 8\n"+strings.Replace(text, `actions = ["none", "none"]`, `kinds = ["deepen"]`, 1)), 0o600))
	now := time.Now()
	rows := func(word string, age time.Duration) {
		require.NoError(t, os.WriteFile(csv, []byte("text,label\n"+strings.Repeat("x"+word+",1\nyy,0\n", 20)), 0o600))
		require.NoError(t, os.Chtimes(csv, now, now.Add(-age)))
	}
	fsys := &reading{FS: files.OS{}, path: csv}
	env := worktest.Env(fsys)
	env.Now = func() time.Time { return now }
	run := func() error {
		fsys.count = 0
		_, err := simulate.Manifest(t.Context(), env, file, simulate.ManifestOptions{Folder: filepath.Join(dir, "run")})
		return err
	}
	rows("a", time.Hour)
	require.NoError(t, run())
	checks := 2 * (fsys.count - 1) // of two configurations, this one and the stored one; the first run loads once
	loads := func(want bool, about string) {
		t.Helper()
		require.NoError(t, run(), about)
		require.Equal(t, map[bool]int{true: checks + 1, false: checks}[want], fsys.count, about)
	}
	loads(false, "nothing has changed")
	rows("a", time.Minute)
	loads(true, "another time, the same content")
	loads(false, "checked")
	rows("a", time.Second)
	loads(true, "so new that another change may have the same time")
	loads(true, "still new")
	rows("b", time.Minute)
	err := run()
	require.ErrorContains(t, err, "differ from the images at the start of the simulation")
}
