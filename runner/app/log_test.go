package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"graft/internal/files"
	"graft/results"
)

// fewLines is a file system on which a file accepts a limited number of lines.
type fewLines struct {
	files.OS
	lines *int
}

func (d fewLines) Append(path string) (files.File, error) {
	f, err := d.OS.Append(path)
	return fewLinesFile{f, d.lines}, err
}

type fewLinesFile struct {
	files.File
	lines *int
}

func (f fewLinesFile) Write(p []byte) (int, error) {
	if *f.lines--; *f.lines < 0 {
		return 0, errors.New("the disk is full")
	}
	return f.File.Write(p)
}

func TestRunLogComplainsOnce(t *testing.T) {
	seen, console := observer.New(zapcore.InfoLevel)
	both, alone, record := WithRunLog(zap.New(seen))
	both.Debug("held back")
	takes := 2
	run, err := results.Create(fewLines{lines: &takes}, filepath.Join(t.TempDir(), "run"), results.CreateOptions{},
		results.Manifest{})
	require.NoError(t, err)
	record.Open(run)
	both.Info("written")
	for range 5 {
		both.Info("said")
		alone.Info("not said")
	}
	require.NoError(t, run.Close())
	text, err := os.ReadFile(run.Path("log.jsonl"))
	require.NoError(t, err)
	require.Regexp(t, `^\{"level":"debug",.*"msg":"held back"\}\n\{"level":"info",.*"msg":"written"\}\n$`, string(text))
	var said []string
	for _, e := range console.All() {
		said = append(said, e.Message)
	}
	complaint := "cannot write the log in the run folder; continuing without it"
	require.Equal(t, []string{"written", "said", complaint, "said", "said", "said", "said"}, said)
}
