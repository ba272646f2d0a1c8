package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/results"
	"graft/results/tensorboard/tensorboardtest"
)

// drawnCurves returns the figures and texts of a run in TensorBoard, without its configuration.
func drawnCurves(t *testing.T, folder string) (figures []string) {
	t.Helper()
	events, err := tensorboardtest.ReadRun(folder)
	require.NoError(t, err)
	for _, e := range events {
		for _, s := range e.Scalars {
			figures = append(figures, fmt.Sprint(e.Step, " ", s.Tag, " ", s.Value))
		}
		for _, text := range e.Texts {
			if text.Tag != "configuration" {
				figures = append(figures, fmt.Sprint(e.Step, " ", text.Tag, " ", text.Text))
			}
		}
	}
	return figures
}

// TensorBoard shows the same curves for a job that is stopped several times as for an uninterrupted one.
func TestCurvesOfAJob(t *testing.T) {
	stopped := ""
	whole := requireRequeued(t, func(folder string, more ...string) []string {
		stopped = folder
		return append(brief(folder, "--tensorboard", "--set", "run.threads=1", "--set",
			"data.synthetic.train=150"), more...)
	})
	want := drawnCurves(t, whole)
	require.Equal(t, want, drawnCurves(t, stopped))

	rows, err := results.ReadStream(files.OS{}, filepath.Join(whole, "epochs.csv"))
	require.NoError(t, err)
	steps, err := rows.Floats("steps")
	require.NoError(t, err)
	losses, err := rows.Floats("train_loss")
	require.NoError(t, err)
	for k, step := range steps {
		require.Contains(t, want, fmt.Sprint(int64(step), " loss/train ", float32(losses[k])))
	}
	all := strings.Join(want, "\n")
	require.Regexp(t, `(?m)^\d+ decision \*\*deepen:conv1\*\* at 0\.\d s with \d devices?, `+
		`\d+ parameters become \d+, [0-9.]+% accuracy before it$`, all)
	for _, tag := range []string{"loss/validation", "accuracy/train", "accuracy/validation", "learning_rate",
		"parameters", "devices", "budget_seconds", "up", "shrink"} {
		require.Contains(t, all, " "+tag+" ")
	}
	events, err := tensorboardtest.ReadRun(whole)
	require.NoError(t, err)
	require.Contains(t, events[2].Texts[0].Text, "```toml\n[run]\n")

	plain := filepath.Join(t.TempDir(), "plain")
	require.Equal(t, failure.Done,
		graft(brief(plain, "--set", "run.threads=1", "--set", "data.synthetic.train=150")...).code)
	require.Empty(t, drawnCurves(t, plain), "off by default")
	sameFiles(t, plain, whole, "epochs.csv", "events.jsonl")
}

func TestCurvesOfPolicies(t *testing.T) {
	path, folder := lessonFile(t, "[run]\nevery = 50\ntensorboard = true\n"), filepath.Join(t.TempDir(), "run")
	done(t, "learn", path, "--folder", folder, "--quiet", "--set", "learn.episodes=200")
	drawn := strings.Join(drawnCurves(t, folder), "\n")
	containsAll(t, drawn, "50 objective ", "200 accuracy/expected ", "200 temperature ", "50 likeliest_sequence `")

	path, folder = classFile(t, "held_out = [THREE]\n"), filepath.Join(t.TempDir(), "trees")
	args := []string{"learn", path, "--folder", folder, "--quiet", "--tensorboard", "--set", "run.seeds=2", "--set",
		"policy.hidden=16", "--set", "learn.steps=30"}
	done(t, args...)
	want := drawnCurves(t, folder)
	slices.Sort(want)
	require.Contains(t, strings.Join(want, "\n"), "10 aim/seed-2 ")
	require.Contains(t, strings.Join(want, "\n"), "10 held_out/seed-1 ")
	done(t, append(args, "--resume")...)
	again := drawnCurves(t, folder)
	slices.Sort(again)
	require.Equal(t, want, again, "who goes on tells all again, once")
}
