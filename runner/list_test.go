package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/decider"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/lists"
)

func TestList(t *testing.T) {
	index := object[listIndex](t, "list")
	require.Len(t, index.Kinds, len(lists.Kinds()))
	text := must(t, "list")
	for _, k := range lists.Kinds() {
		containsAll(t, text, k.Name, k.About)
		l := object[listReport](t, "list "+k.Name)
		require.Equal(t, k.Name, l.Kind)
		require.NotEmpty(t, l.Entries)
		seen := map[[2]string]bool{}
		text := must(t, "list "+k.Name)
		for _, e := range l.Entries {
			key := [2]string{e.Of, e.Name}
			require.False(t, seen[key], "%s %v", k.Name, key)
			seen[key] = true
			require.NotEmpty(t, e.About, "%s %s", k.Name, e.Name)
			require.NotContains(t, e.About, "\n")
			require.NotEqual(t, e.Command == "", e.TOML == "", "%s %s has one example", k.Name, e.Name)
			containsAll(t, text, e.Name+": "+e.About)
			containsAll(t, text, e.Example()...)
		}
	}
	fails(t, failure.Usage, `unknown list "nothing"; expected one of: schedulers, deciders`, "list", "nothing")
}

// The lists contain the registered entries.
func TestListsAreTheRegistries(t *testing.T) {
	for name, want := range map[string][]string{
		"schedulers": {"fifo", "lucid", "drf", "goodput", "wfq", "thrifty"}, "deciders": {"script", "policy"},
		"actions": {"none"}, "layers": {"Conv2d", "Identity", "block", "branches"},
		"networks": {"ConvSmall", "CharGPT"},
		"datasets": {"synthetic", "csv"}, "formats": {"swf", ".onnx"}, "figures": {"curves", "transfer"},
		"engines": {"local", "slurm", "kubernetes"}, "files": {"job", "pipeline"}, "runs": {"job", "sweep", "table"},
		"quirks": {"extra-second", "whole-seconds"},
	} {
		k, known := lists.Kinds().Find(name)
		require.True(t, known, name)
		var names []string
		for _, e := range k.Entries() {
			names = append(names, e.Name)
		}
		require.Subset(t, names, want, name)
	}
	for _, d := range config.JobDeciders() {
		_, err := config.ReadJob(files.OS{}, "", []string{"adapt.decider=" + config.Quote(d.Name)})
		require.False(t, err != nil && strings.Contains(err.Error(), "must be one of"), "%s: %v", d.Name, err)
	}
}

// Every example works: command lines are parsed, and run if they are quick; files are checked.
func TestExamplesOfLists(t *testing.T) {
	all := writeAll(t)
	t.Chdir(t.TempDir())
	policy, err := decider.NewStructural(decider.StructuralShape{Hidden: 8}, decider.Scale{}, decider.Scale{}, 1)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll("runs/learned", 0o700))
	require.NoError(t, policy.Write(files.OS{}, filepath.Join("runs", "learned", config.PolicyFile)))
	for name, folder := range all {
		require.NoError(t, os.Symlink(folder, filepath.Join("runs", name)))
	}
	for _, k := range lists.Kinds() {
		for _, e := range k.Entries() {
			t.Run(k.Name+"/"+e.Of+" "+e.Name, func(t *testing.T) {
				if e.TOML != "" {
					checkFragment(t, k.Name, e.TOML)
				} else {
					checkCommand(t, e.Command)
				}
			})
		}
	}
}

// checkFragment checks a part of a configuration file, or a network file.
func checkFragment(t *testing.T, kind, text string) {
	t.Helper()
	write(t, "example.toml", text)
	if kind == "layers" {
		must(t, "model show example.toml")
		return
	}
	must(t, "config check example.toml --without-data")
}

// wordPattern matches a word of a command line.
var wordPattern = regexp.MustCompile(`'[^']*'|\S+`)

// quickPattern matches examples that are quick and need only the files of the test.
var quickPattern = regexp.MustCompile(`^graft (model show|config schema|surgery) |^graft report runs/`)

// checkCommand parses a command line, and runs it if it is quick and its files exist.
func checkCommand(t *testing.T, line string) {
	t.Helper()
	words := wordPattern.FindAllString(line, -1)
	for k := range words {
		words[k] = strings.Trim(words[k], "'")
	}
	require.Equal(t, "graft", words[0])
	root := newRootCommand()
	command, args, err := root.Find(words[1:])
	require.NoError(t, err, line)
	require.NotEqual(t, root, command, line)
	require.NoError(t, command.ParseFlags(args), line)
	require.NoError(t, command.ValidateArgs(command.Flags().Args()), line)
	require.NoError(t, command.ValidateRequiredFlags(), line)
	require.NoError(t, command.ValidateFlagGroups(), line)
	if quickPattern.MatchString(line) && haveRuns(command) {
		done(t, append(words[1:], "--quiet")...)
	}
}

// haveRuns reports whether the run folders that a parsed command names exist.
func haveRuns(command *cobra.Command) bool {
	for _, arg := range command.Flags().Args() {
		if _, err := os.Stat(arg); strings.HasPrefix(arg, "runs/") && err != nil {
			return false
		}
	}
	return true
}
