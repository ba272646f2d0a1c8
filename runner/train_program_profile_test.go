package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

// A profile is measured inside the program, for the networks that the job's actions produce. It charges a job.
func TestProgramsAreProfiled(t *testing.T) {
	longOnly(t, "profiles inside programs")
	t.Setenv("TMPDIR", t.TempDir())
	job := programJob(t, "", "", grows)
	profile := filepath.Join(filepath.Dir(job), "measured.toml")
	o := done(t, "profile", job, "--rounds", "1", "--out", profile)
	containsAll(t, o.stdout, "inside a program with PyTorch", "AdamW, medians of 1 round", "Net widen:conv1:6",
		"Net widen:conv1:6 widen:conv2:12")
	require.NotContains(t, o.stdout, "ConvNet", "a network that graft itself would train")

	run := func() string {
		return printedDigest(t, done(t, "train", job, "--quiet", "--folder", t.TempDir()+"/run", "--set",
			"time.profile="+profile))
	}
	require.Equal(t, run(), run())
	// The profile has no rates, since too few networks were measured.
	fails(t, failure.Configuration, "no cost rates", "train", job, "--set", "time.profile="+profile, "--set",
		`adapt.actions=["widen:conv2:16"]`, "--folder", t.TempDir()+"/run")

	fails(t, failure.Usage, `--batch does not apply to a job with program.command`, "profile", job, "--batch", "8")
	fails(t, failure.Usage, "measure each with a command of its own", "profile", job, job)
	broken := programJob(t, "net.eval()", "raise SystemExit('no validation')", "")
	containsAll(t, fails(t, failure.Failed, "no validation", "profile", broken, "--rounds", "1").stderr, "measure Net")
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "graft-program-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
