package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
)

// The report of one run shows what comparisons show in addition to the configuration, in the same words.
func TestReportOfARunShowsItsCircumstances(t *testing.T) {
	text := func(m results.Manifest) string {
		d, r := &document.Document{}, NewRunReport(&runs.Run{Path: t.TempDir(), Files: files.OS{}, Kind: runs.JobKind,
			Manifest: m})
		r.write(d)
		var b strings.Builder
		require.NoError(t, d.Print(&b))
		return b.String()
	}
	require.NotContains(t, text(results.Manifest{}), "LibTorch")
	got := text(results.Manifest{LibTorch: "2.1.0", FilesSHA256: strings.Repeat("ab", 32), OtherBudget: true})
	require.Regexp(t, `version of LibTorch +2\.1\.0`, got)
	require.Regexp(t, `content of files +abab`, got)
	require.Regexp(t, `time\.budget +changed when the run resumed`, got)
	got = text(results.Manifest{LibTorch: "2.1.0", OtherLibTorch: true})
	require.Regexp(t, `version of LibTorch +changed when the run resumed\n`, got)
	got = text(results.Manifest{LibTorch: "2.1.0", OtherLibTorch: true, Fork: "a/b"})
	require.Regexp(t, `version of LibTorch +changed when the run forked or resumed`, got)
}
