package contrast

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
)

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

const pair = "[[contrast]]\narm = \"late\"\nagainst = \"early\"\n"

func TestReadFile(t *testing.T) {
	f, err := Read(files.OS{}, written(t, "baseline = \"never\"\n"+pair+"question = \"Why?\"\n"))
	require.NoError(t, err)
	require.Equal(t, "test accuracy", f.Metric)
	require.Equal(t, []Question{{"Why?", "late", "early"}}, f.Contrast)
	m, known := f.measure()
	require.True(t, known)
	require.Equal(t, "test_accuracy", m.Name)
}

func TestFaultyFiles(t *testing.T) {
	for about, c := range map[string]struct{ text, says string }{
		"empty":         {"", "no contrasts"},
		"no TOML":       {"[[contrast]\n", "c.toml:1"},
		"unknown key":   {pair + "agains = \"x\"\n", "c.toml:4:1"},
		"unknown table": {"[contrasts]\n" + pair, "c.toml:1"},
		"metric": {"metric = \"test acuracy\"\n" + pair,
			"unknown measure \"test acuracy\"; did you mean test accuracy?"},
		"metric's line": {"metric = \"speed\"\n" + pair, "c.toml:1:10"},
		"no arm":        {"[[contrast]]\nagainst = \"early\"\n", "contrast 1 needs the keys arm and against"},
		"same arm":      {"[[contrast]]\narm = \"early\"\nagainst = \"early\"\n", "c.toml:3:11"},
		"twice":         {pair + pair, "contrast 2 has the arms of contrast 1"},
		"reversed": {pair + "[[contrast]]\narm = \"early\"\nagainst = \"late\"\n",
			"contrast 2 has the arms of contrast 1"},
		"share above one": {pair + "[[failed]]\nvalue = 10\n", "value: 10 is not a test accuracy; expected a number " +
			"from 0 to 1"},
		"no number":  {"metric = \"test loss\"\n" + pair + "[[failed]]\nvalue = nan\n", "c.toml:6"},
		"two values": {pair + "[[failed]]\nvalue = 0.1\n[[failed]]\nvalue = 0.2\n", "two values for all sweeps"},
		"type":       {"metric = 3\n" + pair, "c.toml:1"},
	} {
		_, err := Read(files.OS{}, written(t, c.text))
		require.ErrorContains(t, err, c.says, about)
		require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err), about)
	}
	_, err := Read(files.OS{}, filepath.Join(t.TempDir(), "none.toml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestUnknownNames(t *testing.T) {
	f, err := Read(files.OS{}, written(t, "baseline = \"nevr\"\n"+pair+"[[failed]]\nsweep = \"plan\"\nvalue = 0.1\n"))
	require.NoError(t, err)
	err = f.checkNames([]string{"never", "lates", "early"}, []string{"gpt", "plain"})
	require.ErrorContains(t, err, "3 faults")
	require.ErrorContains(t, err, "c.toml:6:9: sweep: no sweep is named \"plan\"; did you mean plain?")
	require.ErrorContains(t, err, "c.toml:3:7: arm: no sweep has an arm \"late\"; did you mean lates?")
	require.ErrorContains(t, err, "c.toml:1:12: baseline: no sweep has an arm \"nevr\"; did you mean never?")
	require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err))
}

// The reader panics on no text, and a file that it accepts has a known measure and different arms.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", pair, pair + pair, "metric = \"test loss\"\nbaseline = \"x\"\n", "contrast = 3\n",
		"[[contrast]]\narm = 1\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		made, err := Read(files.OS{}, written(t, text))
		if err != nil {
			return
		}
		_, known := made.measure()
		require.True(t, known)
		for _, q := range made.Contrast {
			require.NotEqual(t, q.Arm, q.Against)
		}
	})
}
