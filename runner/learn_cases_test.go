package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/report/runs"
	"graft/runner/learn"
)

// casesFile writes a file of cases.
func casesFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cases.toml")
	write(t, path, text)
	return path
}

// Each case learns in its own folder. A stopped run resumes to the same bytes, and a completed run is only read.
func TestSchedulersLearnInCases(t *testing.T) {
	path, cases := schedulerFile(t, "[learn]\nimitation_workloads = 3\nmethod = \"none\"\n[run]\nseeds = 3\n"),
		casesFile(t, "[given]\n[\"more jobs\"]\nworkloads.jobs = 7\nschedule.schedulers = [\"drf\", \"fifo\"]\n")
	whole, stopped := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "stopped")
	text := done(t, "learn", path, "--cases", cases, "--folder", whole).stdout
	require.Regexp(t, `(?s)^CASE +SEEDS +BEST JCT +95% +LAST JCT +DRF +FIFO +SRTF\ngiven +3 +[0-9. `+
		`to–-]+ .*\nmore jobs +3 .*it is optimistic, since the same workloads `+
		`select and measure it.*results of each case in .*cases\n$`, text)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := call(ctx, newRootCommand(), "learn", path, "--cases", cases, "--folder", stopped)
	ends(t, o, failure.Requeue, "rerun the command with --resume")
	require.Contains(t, o.stderr, "case given")
	again := []string{"learn", path, "--cases", cases, "--folder", stopped, "--resume"}
	r := decoded[learn.CasesResult](t, done(t, append(again, "--json")...).stdout)
	require.Len(t, r.Outcome.Cases, 2)
	require.Equal(t, filepath.Join("cases", "more-jobs"), r.Outcome.Cases[1].Folder)
	require.Equal(t, 3, r.Outcome.Cases[1].Best.N)
	require.GreaterOrEqual(t, r.Outcome.Cases[1].Last.Mean, r.Outcome.Cases[1].Best.Mean)
	require.Contains(t, r.Outcome.Cases[0].Baselines, "srtf")
	require.Equal(t, learntCases(t, whole), learntCases(t, stopped))
	require.NoError(t, os.Remove(filepath.Join(stopped, runs.OutcomeFile)))
	done(t, again...)
	require.Equal(t, learntCases(t, whole), learntCases(t, stopped))
	require.Regexp(t, `(?s)more jobs.*BEST JCT is the mean`, done(t, "report", stopped).stdout)
	fails(t, failure.Configuration, "the cases have changed since the run started: in case given, workloads.jobs "+
		"was 6 and is now 8",
		append(again, "--set", "workloads.jobs=8")...)
}

// learntCases returns the output of a run of cases, without files that hold times.
func learntCases(t *testing.T, folder string) string {
	all := contents(t, filepath.Join(folder, "cases.csv")) + learnt(t, folder)
	paths, err := filepath.Glob(filepath.Join(folder, runs.CasesFolder, "*"))
	require.NoError(t, err)
	for _, path := range paths {
		all += path[len(folder):] + "\n" + learnt(t, path)
	}
	return all
}

// All cases are checked before any of them learns, and errors name the line.
func TestCasesThatCannotBeLearned(t *testing.T) {
	path, folder := schedulerFile(t, "[learn]\nimitation_workloads = 1\nmethod = \"none\"\n"+
		""), filepath.Join(t.TempDir(), "run")
	cases := casesFile(t, "[good]\nworkloads.jobs = 7\n[bad]\nworkloads.jops = 7\n[worse]\nelastic.speed_error = 2\n")
	o := graft("learn", path, "--cases", cases, "--folder", folder)
	require.Equal(t, failure.Configuration, o.code)
	containsAll(t, o.stderr, "case bad", "cases.toml:4:", `unknown key "jops" in workloads`, "case worse",
		"cases.toml:6:", "speed_error is 2")
	require.NoDirExists(t, folder)
	fails(t, failure.Failed, "has no cases; add a table for each", "learn", path, "--cases", casesFile(t, ""))
	fails(t, failure.Failed, "no such file", "learn", path, "--cases", filepath.Join(t.TempDir(), "none.toml"))
	fails(t, failure.Usage, "--cases applies only to files that train schedulers (section workloads)", "learn",
		lessonFile(t, ""),
		"--cases", cases)
}
