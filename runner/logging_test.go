package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rootThatLogs is a program whose one command `act` logs once at three levels.
func rootThatLogs() *cobra.Command {
	root := rootThat(nil)
	root.Commands()[0].RunE = func(command *cobra.Command, _ []string) error {
		logger := loggerFrom(command.Context())
		logger.Debug("detail")
		logger.Info("progress")
		logger.Error("trouble")
		return nil
	}
	return root
}

func TestFlagsDecideHowMuchIsLogged(t *testing.T) {
	cases := map[string]struct {
		args []string
		want []string
	}{
		"as it comes": {nil, []string{"progress", "trouble"}},
		"verbose":     {[]string{"--verbose"}, []string{"detail", "progress", "trouble"}},
		"quiet":       {[]string{"-q"}, []string{"trouble"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := call(context.Background(), rootThatLogs(), append(c.args, "act")...)
			assert.Empty(t, got.stdout)
			assert.Equal(t, c.want, messages(t, got.stderr))
		})
	}
}

// messages reads log lines, which are JSON off a terminal.
func messages(t *testing.T, log string) []string {
	var all []string
	for line := range strings.Lines(log) {
		var entry struct {
			Message string `json:"msg"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &entry))
		all = append(all, entry.Message)
	}
	return all
}

func TestLoggerOutsideOfACommandIsSilent(t *testing.T) {
	assert.NotPanics(t, func() { loggerFrom(context.Background()).Error("nobody hears this") })
}

func TestABufferIsNoTerminal(t *testing.T) {
	assert.False(t, isTerminal(new(bytes.Buffer)))
}
