package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
	"graft/results"
	"graft/trainer"
)

// Seeds of one configuration with the same changes share a column. The times of changes over HTTP differ between seeds,
// and processes join an elastic job at any time.
func TestLiveChangesInWords(t *testing.T) {
	up := trainer.LiveChange{At: 1500 * time.Millisecond, Change: trainer.Up, Devices: 2}
	later, more := up, up
	later.At, more.Devices = up.At+1, 3
	r := &Run{}
	require.Empty(t, r.liveText(nil))
	require.Equal(t, "up to 2 devices", r.liveText([]trainer.LiveChange{up}))
	require.Equal(t, "up to 2 devices", r.liveText([]trainer.LiveChange{later}))
	many := r.liveText([]trainer.LiveChange{up, up, up, up})
	require.Regexp(t, "^4 changes, [0-9a-f]+$", many)
	require.Equal(t, many, r.liveText([]trainer.LiveChange{up, up, up, later}))
	require.NotEqual(t, many, r.liveText([]trainer.LiveChange{up, up, up, more}))
	r.Settings = []config.Setting{{Key: "parallel.elastic", Text: "true"}}
	require.Empty(t, r.liveText([]trainer.LiveChange{up}))
}

// Runs share a column only if everything on which their results depend is equal. The configuration has only the names
// of files, and the time budget of a resumed run only at its end.
func TestRunsWithOtherInputsHaveOtherColumns(t *testing.T) {
	made := func(change func(r *Run)) string {
		r := &Run{Path: t.TempDir(), Kind: JobKind, Files: files.OS{}, Ended: true,
			Settings: []config.Setting{{Key: "network.file", Text: "mine.toml"}, {Key: "run.seed", Text: "1"}},
			Manifest: results.Manifest{Graft: "v1", FilesSHA256: "aaaaaaaaaaaaaaaa", LibTorch: "1.13.0"}}
		change(r)
		return r.Fingerprint(r.ColumnSettings())
	}
	plain := made(func(*Run) {})
	require.Equal(t, plain, made(func(r *Run) { r.Settings[1].Text = "2" }))
	for about, change := range map[string]func(r *Run){
		"another version of graft":         func(r *Run) { r.Manifest.Graft = "v2" },
		"another LibTorch":                 func(r *Run) { r.Manifest.LibTorch = "2.1.0" },
		"another LibTorch since a resume":  func(r *Run) { r.Manifest.OtherLibTorch = true },
		"another content of the network":   func(r *Run) { r.Manifest.FilesSHA256 = "bbbbbbbbbbbbbbbb" },
		"devices changed over HTTP":        func(r *Run) { r.live = "up to 2 devices" },
		"another budget in its first part": func(r *Run) { r.Manifest.OtherBudget = true },
	} {
		require.NotEqual(t, plain, made(change), about)
	}
}
