package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

// rootThat returns a program with one command, `act [--json]`, that returns err.
func rootThat(err error) *cobra.Command {
	root := &cobra.Command{Use: "graft", SilenceErrors: true, SilenceUsage: true}
	act := &cobra.Command{
		Use:  "act",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return err },
	}
	act.Flags().Bool("json", false, "")
	act.Flags().String("name", "", "")
	root.AddCommand(act)
	return root
}

func TestWrongCallsEndWithUsage(t *testing.T) {
	cases := map[string]struct {
		args []string
		says []string // parts of stderr
	}{
		"an unknown command": {[]string{"verzion"},
			[]string{`"verzion"`, "did you mean version?", "graft --help"}},
		"an unknown command far from any": {[]string{"qqqqqq"}, []string{`unknown command "qqqqqq"`}},
		"an unknown flag of the program":  {[]string{"--nosuch"}, []string{"--nosuch"}},
		"an unknown flag of a command": {[]string{"version", "--nosuch"},
			[]string{"--nosuch", "graft version --help"}},
		"a misspelt flag": {[]string{"cluster", "run", "--gpu", "8"},
			[]string{"did you mean --gpus-per-node?"}},
		"an unknown flag beside keys": {[]string{"cluster", "run", "--nosuch"},
			[]string{"is set with --set KEY=VALUE"}},
		"an unknown short flag":             {[]string{"version", "-Z"}, []string{"'Z'"}},
		"an argument that is not wanted":    {[]string{"version", "now"}, []string{"now"}},
		"flags that exclude each other":     {[]string{"version", "-v", "-q"}, []string{"quiet", "verbose"}},
		"a value that the flag cannot take": {[]string{"version", "--json=perhaps"}, []string{"perhaps"}},
		"help about what does not exist":    {[]string{"help", "nosuch"}, []string{`"nosuch"`}},
		"an unknown command of a group":     {[]string{"weights", "nosuch"}, []string{`"nosuch"`, "graft weights"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := fails(t, failure.Usage, "", c.args...)
			assert.Empty(t, got.stdout, "stdout is for data")
			containsAll(t, got.stderr, c.says...)
		})
	}
}

func TestRightCallsPrintToStdoutOnly(t *testing.T) {
	for name, args := range map[string][]string{
		"the program alone prints help": nil,
		"help by flag":                  {"--help"},
		"help of a command by flag":     {"version", "--help"},
		"help of a command by name":     {"help", "version"},
		"help of a group":               {"help", "weights"},
		"the version":                   {"version"},
		"the version, quietly":          {"version", "--quiet"},
		"the version, with details":     {"-v", "version"},
	} {
		t.Run(name, func(t *testing.T) {
			got := done(t, args...)
			assert.NotEmpty(t, got.stdout)
			assert.Empty(t, got.stderr)
		})
	}
}

func TestErrorsOfACommandKeepTheirCode(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	cause := errors.New("the disk is full")
	cases := map[string]struct {
		ctx  context.Context
		err  error
		want failure.Code
	}{
		"no error":                {context.Background(), nil, failure.Done},
		"no error with a code":    {context.Background(), failure.With(failure.Damaged, nil), failure.Done},
		"a plain error":           {context.Background(), cause, failure.Failed},
		"a wrong call found late": {context.Background(), failure.Usagef("no file given"), failure.Usage},
		"a damaged file":          {context.Background(), failure.With(failure.Damaged, cause), failure.Damaged},
		"a code with words around it": {context.Background(), errors.Join(failure.With(failure.Configuration, cause)),
			failure.Configuration},
		"the outermost of two codes": {context.Background(),
			failure.With(failure.Partial, failure.With(failure.Damaged, cause)), failure.Partial},
		"stopped from outside": {cancelled, context.Canceled, failure.Interrupted},
		"stopped, but saved": {cancelled, failure.With(failure.Requeue, context.Canceled),
			failure.Requeue},
		"failed while being stopped":      {cancelled, cause, failure.Failed},
		"cancelled, but not from outside": {context.Background(), context.Canceled, failure.Failed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := call(c.ctx, rootThat(c.err), "act")
			assert.Equal(t, c.want, got.code)
			if c.err != nil {
				assert.Contains(t, got.stderr, "graft: "+c.err.Error()+"\n")
			}
		})
	}
}

func TestAnInterruptedCommandSaysWhatStoppedIt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("received a signal"))
	got := ends(t, call(ctx, rootThat(context.Canceled), "act"), failure.Interrupted, "")
	assert.Equal(t, "graft: context canceled: received a signal\n", got.stderr)
}

func TestErrorsAreObjectsWhenJSONIsAskedFor(t *testing.T) {
	damaged := failure.With(failure.Damaged, errors.New("read a.pth: cut short"))
	cases := map[string]struct {
		args []string
		want errorReport
	}{
		"a failing command": {
			[]string{"act", "--json"},
			errorReport{Command: "graft act", Kind: "damaged", Code: failure.Damaged, Message: "read a.pth: cut short"},
		},
		"a wrong flag before --json": {
			[]string{"act", "--nosuch", "--json"},
			errorReport{Command: "graft act", Kind: "usage", Code: failure.Usage, Message: "unknown flag: --nosuch"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := call(context.Background(), rootThat(damaged), c.args...)
			assert.Equal(t, c.want.Code, got.code)
			assert.Empty(t, got.stdout)
			var object struct {
				Error errorReport `json:"error"`
			}
			require.NoError(t, json.Unmarshal([]byte(got.stderr), &object))
			assert.Equal(t, c.want, object.Error)
		})
	}
}

// Errors of libraries name options, and the command line replaces them by flags.
func TestErrorsNameTheFlagsOfTheCommand(t *testing.T) {
	err := errors.New(`option name is 3, option "name" is 3; leave option "force" away`)
	require.Equal(t, "graft: --name is 3, --name is 3; leave option \"force\" away\n",
		call(context.Background(), rootThat(err), "act").stderr)
	require.Contains(t, call(context.Background(), rootThat(err), "act", "--json").stderr,
		`"message":"--name is 3, --name is 3; leave option \"force\" away"`)
}

func TestErrorsArePlainWhenJSONIsNotAskedFor(t *testing.T) {
	for name, args := range map[string][]string{
		"no --json":                  {"act"},
		"--json taken back":          {"act", "--json=false"},
		"--json after the last flag": {"act", "--", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(context.Background(), rootThat(errors.New("no")), args...)
			assert.Regexp(t, "^graft: ", got.stderr)
		})
	}
}

// rootThatLogs returns a program with one command, `act`, that logs once at three levels.
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

// messages decodes log lines, which are JSON if stderr is not a terminal.
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

// patience limits waits; a loaded machine may take minutes.
const patience = 15 * time.Minute

// receive waits for a value, and fails the test if none arrives.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		require.FailNow(t, "the signal had no effect")
		panic("not reached")
	}
}

func TestFirstSignalCancelsAndTheSecondLeaves(t *testing.T) {
	for name, signal := range map[string]os.Signal{
		"SIGINT":  os.Interrupt,
		"SIGTERM": syscall.SIGTERM,
	} {
		t.Run(name, func(t *testing.T) {
			left := make(chan int, 1)
			ctx, stop := withSignals(context.Background(), func(code int) { left <- code })
			defer stop()
			self, err := os.FindProcess(os.Getpid())
			require.NoError(t, err)

			require.NoError(t, self.Signal(signal))
			receive(t, ctx.Done())
			assert.ErrorContains(t, context.Cause(ctx), signal.String())
			assert.Empty(t, left, "the first signal must not end the process")

			require.NoError(t, self.Signal(signal))
			assert.Equal(t, int(failure.Interrupted), receive(t, left))
		})
	}
}
