package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

// asGraft writes a script that runs this test binary as graft, and returns its path.
func asGraft(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(dir, "graft")
	script := "#!/bin/sh\n" + programVariable + "=1 exec '" + self + "' \"$@\"\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return path
}

// offered returns the completions that a shell gets for the last argument of a command line.
func offered(t *testing.T, args ...string) (list []string, directive string) {
	t.Helper()
	got := done(t, append([]string{cobra.ShellCompRequestCmd}, args...)...)
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// Completions have descriptions, and match the start of the argument.
func TestCompletionKnowsWhatArgumentsCanBe(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.MkdirAll("runs/mine", 0o700))
	write(t, "runs/mine/manifest.json", `{"format": 1}`)
	write(t, "learn.toml", "[table]\nfile = \"x\"\n")
	for line, want := range map[string]string{
		"model show Conv":                 "ConvNet2",
		"profile show ":                   "steady",
		"profile Mob":                     "MobileNetV2",
		"data fetch ":                     "cifar10",
		"surgery --model Res":             "ResNet",
		"train --folder ":                 "runs/mine",
		"train --folder runs/":            "runs/mine",
		"train --set time.":               "time.budget=\t",
		"train --set run.ten":             "run.tensorboard=\tWrites TensorBoard event files",
		"learn learn.toml --set learn.ep": "learn.episodes=",
		"learn --set tables.":             "tables.folders=",
		"simulate --set simulate.":        "simulate.seeds=",
		"completion ":                     "fish",
		"help config ":                    "check\t",
		"simulate --engine ":              "slurm",
		"tab":                             "table\t",
	} {
		list, _ := offered(t, strings.Split(line, " ")...)
		require.Contains(t, strings.Join(list, "\n"), want, line)
	}
	_, directive := offered(t, "train", "")
	require.Equal(t, ":8", directive, "files of one extension")
	list, _ := offered(t, "completion", "")
	require.Equal(t, shells, list)
	list, _ = offered(t, "")
	require.NotContains(t, strings.Join(list, "\n"), "guard", "hidden commands stay hidden")
	list, _ = offered(t, "help", "nosuch", "")
	require.Empty(t, list)
	_, directive = offered(t, "train", "--folder", "nosuch/")
	require.Equal(t, ":16", directive, "folders, where there is no run")
}

// Every completer belongs to an existing command or flag.
func TestCompletersAreOfCommands(t *testing.T) {
	paths, flags := map[string]bool{}, map[string]bool{}
	walk(newRootCommand(), func(command *cobra.Command) {
		paths[command.CommandPath()] = true
		for name := range flagCompleters {
			flags[name] = flags[name] || command.LocalFlags().Lookup(name) != nil
		}
	})
	for path := range argumentCompleters {
		require.True(t, paths[path], path)
	}
	for name := range flagCompleters {
		require.True(t, flags[name], name)
	}
}

// Completion scripts are valid in their shells, if installed.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		got := done(t, "completion", shell)
		require.Contains(t, got.stdout, cobra.ShellCompRequestCmd)
		if _, err := exec.LookPath(shell); err != nil || shell == "powershell" {
			continue
		}
		check := exec.Command(shell, "-n")
		check.Stdin = strings.NewReader(got.stdout)
		out, err := check.CombinedOutput()
		require.NoError(t, err, "%s: %s", shell, out)
	}
	require.Equal(t, failure.Usage, graft("completion", "tcsh").code)
	require.Equal(t, failure.Usage, graft("completion").code)
}

// bash completes with the script.
func TestBashCompletes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("left out: there is no bash")
	}
	dir := t.TempDir()
	asGraft(t, dir)
	script := graft("completion", "bash").stdout + `
_get_comp_words_by_ref() {
	cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
}
_init_completion() { _get_comp_words_by_ref; }
compopt() { :; }
COMP_WORDS=(graft model show ConvNet) COMP_CWORD=3 COMP_LINE="graft model show ConvNet" COMP_POINT=24 COMP_TYPE=9
__start_graft
printf '%s\n' "${COMPREPLY[@]}"
`
	command := exec.Command("bash", "-c", script)
	command.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "ConvNet2")
}

// Every visible command has a manual page, and pages are reproducible.
func TestManualPages(t *testing.T) {
	dir, again := filepath.Join(t.TempDir(), "man"), filepath.Join(t.TempDir(), "again")
	for _, to := range []string{dir, again} {
		done(t, "man", to)
	}
	count := 0
	walk(newRootCommand(), func(command *cobra.Command) {
		name := strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if command.Hidden {
			require.ErrorIs(t, err, os.ErrNotExist)
			return
		}
		count++
		require.NoError(t, err)
		page := string(text)
		require.Regexp(t, `(?m)^\.TH "GRAFT\S*" "1" "" "graft .*" "graft"$`, page)
		require.Contains(t, page, ".SH EXAMPLE", name)
		require.Contains(t, page, "--verbose", name)
		require.NotContains(t, page, "cobra", name)
		same := contents(t, filepath.Join(again, name))
		require.Equal(t, page, same)
	})
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, count)
	page := contents(t, filepath.Join(dir, "graft.1"))
	require.Contains(t, page, " 75  requeue        stopped early", "what is indented keeps its places")
	if _, err := exec.LookPath("man"); err != nil {
		t.Log("left out: there is no man to read the pages")
		return
	}
	for _, entry := range entries {
		command := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", filepath.Join(dir, entry.Name()))
		var warnings bytes.Buffer
		command.Stderr = &warnings
		require.NoError(t, command.Run())
		require.Empty(t, warnings.String(), entry.Name())
	}
}

// An installation is complete, and its program starts.
func TestInstall(t *testing.T) {
	dir := t.TempDir()
	command := exec.Command("../scripts/install.sh", filepath.Join(dir, "usr"))
	command.Env = append(os.Environ(), "GRAFT="+asGraft(t, dir))
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, name := range []string{"bin/graft", "lib/graft/libgrafttorch.so", "share/man/man1/graft-train.1",
		"share/bash-completion/completions/graft", "share/zsh/site-functions/_graft",
		"share/fish/vendor_completions.d/graft.fish", "share/graft/python/graft_results.py"} {
		info, err := os.Stat(filepath.Join(dir, "usr", name))
		require.NoError(t, err)
		require.NotZero(t, info.Size(), name)
	}
	got, err := exec.Command(filepath.Join(dir, "usr/bin/graft"), "version").Output()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(got), "graft "))

	foreign := filepath.Join(dir, "usr/share/man/man1/graft-other.1")
	write(t, foreign, "another program's page")
	remove := func(folder string) (string, error) {
		out, err := exec.Command("../scripts/install.sh", "--remove", folder).CombinedOutput()
		return string(out), err
	}
	text, err := remove(filepath.Join(dir, "usr"))
	require.NoError(t, err, text)
	require.FileExists(t, foreign)
	require.NoFileExists(t, filepath.Join(dir, "usr/share/man/man1/graft-train.1"))
	require.NoDirExists(t, filepath.Join(dir, "usr/share/graft"))
	text, err = remove(filepath.Join(dir, "usr"))
	require.Error(t, err)
	require.Contains(t, text, "there is no graft in")
	text, err = remove(".")
	require.Error(t, err)
	require.Contains(t, text, "is the folder of graft itself")
}
