package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
)

// unnamed collects, over all tests, the runs whose manifest names another kind than their files show. seen has the
// kinds of all other runs.
var unnamed struct {
	sync.Mutex
	list []string
	seen map[string]bool
}

// holdToKinds checks the manifests of runs that a command line may have written.
func holdToKinds(args []string) {
	below, _ := filepath.Glob("runs/*")
	for k, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if value == "" && k+1 < len(args) {
			value = args[k+1]
		}
		if name == "--folder" || name == "--out" {
			below = append(below, value)
		}
	}
	for _, folder := range below {
		kind, err := namedKind(folder)
		unnamed.Lock()
		if err != nil {
			unnamed.list = append(unnamed.list, fmt.Sprintf("graft %s: %s", strings.Join(args, " "), err))
		} else if kind != "" {
			if unnamed.seen == nil {
				unnamed.seen = map[string]bool{}
			}
			unnamed.seen[kind] = true
		}
		unnamed.Unlock()
	}
}

// namedKind returns the kind in a run's manifest, or an empty string for a folder that is not a run. It returns an
// error if the folder's files show another kind.
func namedKind(folder string) (string, error) {
	f, err := runs.ReadFolder(files.OS{}, folder)
	if err != nil || f.Guess() == nil || f.Guess() == runs.TableKind || f.Guess() == runs.OriginalKind {
		return "", nil
	}
	m, err := manifestOf(folder)
	if err != nil {
		return "", nil // a test wrote its own manifest
	}
	if m.Kind != f.Guess().Name {
		return "", fmt.Errorf("%s: its manifest names %q, its files are those of a %q", folder, m.Kind, f.Guess().Name)
	}
	return m.Kind, nil
}

// manifestOf reads the manifest of a run. A pipeline keeps it in its journal.
func manifestOf(folder string) (results.Manifest, error) {
	l, err := runs.ReadJournal(files.OS{}, filepath.Join(folder, runs.JournalFile))
	if err == nil {
		return l.Run, nil
	}
	return results.ReadManifest(files.OS{}, folder)
}

var kindPattern = regexp.MustCompile(`\s*"kind": "[a-z-]+",`)

// forget removes the kind from the manifest of a run, as in folders of old versions.
func forget(t *testing.T, folder string) {
	t.Helper()
	for _, name := range []string{runs.ManifestFile, runs.JournalFile} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			text := contents(t, path)
			require.Regexp(t, kindPattern, text, path)
			write(t, path, kindPattern.ReplaceAllString(text, ""))
		}
	}
}

// The kind in a manifest equals the kind that graft infers from the folder's files.
func TestKindsOfFolders(t *testing.T) {
	for name, folder := range writeAll(t) {
		want := openRun(t, folder)
		if want.Kind == runs.TableKind || want.Kind == runs.OriginalKind {
			continue // no manifest
		}
		kind, err := namedKind(folder)
		require.NoError(t, err, name)
		require.Equal(t, want.Kind.Name, kind, name)
		if want.Kind.IsStudy() {
			continue // old versions wrote no such folders
		}
		forget(t, folder)
		got := openRun(t, folder)
		require.Equal(t, want.Kind, got.Kind, name)
		require.Equal(t, want.Quantities, got.Quantities, name)
	}
}

// A run that was killed at its start has the kind in its manifest, and no results.
func TestOpenRunsThatBegan(t *testing.T) {
	dir := t.TempDir()
	for _, k := range runs.Kinds() {
		if k == runs.TableKind || k == runs.OriginalKind || k == runs.PipelineKind {
			continue // no manifest of their own
		}
		folder := filepath.Join(dir, k.Name)
		run, err := results.Create(files.OS{}, folder, results.CreateOptions{Resolved: "[run]\nseed = 1\n"},
			results.Manifest{Kind: k.Name, Created: when})
		require.NoError(t, err)
		require.NoError(t, run.Close())
		r := openRun(t, folder)
		require.Equal(t, k, r.Kind)
		require.True(t, r.Begun)
		require.False(t, r.Ended)
		series, err := r.Series()
		require.NoError(t, err)
		require.Empty(t, series)
		containsAll(t, must(t, "report "+folder), k.Name, "not ended", "has no results yet")
		must(t, "report "+folder+" --html "+filepath.Join(dir, k.Name+".html"))
		must(t, "report "+folder+" "+folder+" --csv")
		fails(t, failure.Damaged, "the run has no files yet", "plot", folder, "--out", dir+"/plots")
		require.NoError(t, runs.MayResume(files.OS{}, folder, k))
		if k != runs.JobKind {
			require.ErrorContains(t, runs.MayResume(files.OS{}, folder, runs.JobKind), "the folder contains a "+k.Title)
		}
	}
	require.Contains(t, must(t, "report "+dir), "job")
}

// A kind that only a later version of graft has is reported as unknown.
func TestOpenRunOfAnUnknownKind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	writeJob(t, dir, writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	path := filepath.Join(dir, runs.ManifestFile)
	write(t, path, strings.Replace(contents(t, path), `"kind": "job"`, `"kind": "of-tomorrow"`, 1))
	for _, command := range []string{"report", "plot"} {
		o := fails(t, failure.Damaged,
			`unknown kind of run "of-tomorrow" in the manifest; a later version of graft may have written it`,
			command, dir)
		containsAll(t, o.stderr, dir, `use version "v0.1.0"`)
	}
	err := runs.MayResume(files.OS{}, dir, runs.JobKind)
	require.ErrorContains(t, err, `"of-tomorrow"`)
}

// Commands that other tests run in separate processes also write the kind.
func TestKindsOfTrialsAndTasks(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "tasks.toml", "[machine]\ngpus = 1\n[[task]]\nname = \"one\"\ncommand = [\"true\"]\n")
	write(t, "job.toml", "[data.synthetic]\nclasses = 4\nsize = 16\ntrain = 100\ntest = 100\n"+
		"[time]\nbudget = \"100ms\"\n")
	must(t, "node run tasks.toml --out runs/tasks")
	must(t, "train job.toml --seeds 2 --folder runs/trials")
	for folder, want := range map[string]*runs.Kind{"runs/tasks": runs.NodeRunKind, "runs/trials": runs.SweepKind} {
		kind, err := namedKind(folder)
		require.NoError(t, err)
		require.Equal(t, want.Name, kind)
	}
	must(t, "node run tasks.toml --out runs/tasks --resume")
	text := contents(t, "runs/tasks/tasks.jsonl")
	write(t, "runs/tasks/tasks.jsonl", text[:strings.Index(text, "\n")+1])
	for _, command := range []string{"report runs/tasks", "node run tasks.toml --out runs/tasks --resume"} {
		fails(t, failure.Damaged, "tasks.jsonl: it has the ends of 0 tasks, but the run is complete and has 1 task",
			strings.Fields(command)...)
	}
}
