package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/results/failure"
)

func TestEveryCommandExplainsItself(t *testing.T) {
	walk(newRootCommand(), func(command *cobra.Command) {
		t.Run(command.CommandPath(), func(t *testing.T) {
			assert.NotEmpty(t, command.Short, "Short is the line in the list of commands")
			assert.Contains(t, command.Example, command.Root().Name(), "Example shows whole command lines")
			assert.NotContains(t, command.Short, ".", "Short is no sentence")
		})
	})
}

// A command that leaves Args out would take any argument without a word, and
// one with Run instead of RunE would have no way to fail.
func TestEveryCommandChecksItsArguments(t *testing.T) {
	walk(newRootCommand(), func(command *cobra.Command) {
		t.Run(command.CommandPath(), func(t *testing.T) {
			assert.Nil(t, command.Run, "RunE can return an error, Run cannot")
			if command.Runnable() {
				assert.NotNil(t, command.Args, "say which arguments are wanted, cobra.NoArgs for none")
			}
		})
	})
}

func TestHelpOfTheProgramListsTheExitCodes(t *testing.T) {
	help := graft("--help").stdout
	seen := map[failure.Code]bool{}
	for _, row := range exitTable {
		assert.Contains(t, help, row.meaning)
		assert.False(t, seen[row.code], "code %d is in the table twice", row.code)
		seen[row.code] = true
	}
}

func TestKindOfACodeOutsideTheTableIsFailed(t *testing.T) {
	assert.Equal(t, "usage", kindOf(failure.Usage))
	assert.Equal(t, "failed", kindOf(99))
}

// coloursPattern matches code that colours a terminal.
var coloursPattern = regexp.MustCompile(`\\x1b\[|\\033\[|\\e\[|ColorLevelEncoder`)

// TestColoursAreInOnePlace checks that only the file that respects NO_COLOR writes
// colours. Another test covers NO_COLOR itself.
func TestColoursAreInOnePlace(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text := contents(t, path)
		if coloursPattern.MatchString(text) && !strings.HasSuffix(path, "_test.go") {
			assert.Equal(t, "bars.go", path)
			assert.Contains(t, text, `os.Getenv("NO_COLOR")`)
		}
	}
}

// Every command can be told to say more or less, and says so in its help.
func TestEveryCommandIsQuietOrVerbose(t *testing.T) {
	walk(newRootCommand(), func(command *cobra.Command) {
		got := done(t, append(strings.Fields(command.CommandPath())[1:], "--help")...)
		for _, words := range []string{"--quiet", "--verbose", "Examples:"} {
			assert.Contains(t, got.stdout, words, command.CommandPath())
		}
	})
}
