package workers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"go.uber.org/zap"

	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/runner/app"
)

// LogsOptions configures [Logs].
type LogsOptions struct {
	Worker int  // number of the worker; a negative value prints the logs of all workers
	Follow bool // prints new lines until no worker is alive
}

// Logs writes the logs of the workers of a run folder.
func Logs(ctx context.Context, env *app.Env, w io.Writer, folder string, o LogsOptions) error {
	f, err := Open(env, folder)
	if err != nil {
		return err
	}
	all := f.Batch().Workers
	if o.Worker >= all {
		return failure.Usagef("unknown worker %d; %s, numbered from 0", o.Worker,
			words.ThereAre(all, "worker"))
	}
	var tails []*tail
	for k := range all {
		switch {
		case o.Worker < 0:
			tails = append(tails, &tail{fsys: env.Files, path: fleet.LogPath(f.Batch().Folder, k),
				before: fmt.Sprintf("%d: ", k)})
		case o.Worker == k:
			tails = append(tails, &tail{fsys: env.Files, path: fleet.LogPath(f.Batch().Folder, k)})
		}
	}
	if o.Follow {
		err = followLogs(ctx, env, w, f, tails)
	}
	return errors.Join(err, printTails(w, tails, true))
}

// Times between two polls when logs are followed.
const (
	logPollInterval    = 300 * time.Millisecond // of log files
	workerPollInterval = 5 * time.Second        // of workers
)

// followLogs prints new log lines while a worker is alive.
func followLogs(ctx context.Context, env *app.Env, w io.Writer, f *fleet.Fleet, tails []*tail) error {
	clock := fleet.NewClock(env.Now)
	asked := -workerPollInterval
	for {
		if err := printTails(w, tails, false); err != nil {
			return err
		}
		if now := clock.Now(); now-asked >= workerPollInterval {
			asked = now
			states, err := f.Workers(ctx)
			if err != nil {
				env.Log.Warn("cannot read the worker states", zap.Error(err))
			} else if !slices.ContainsFunc(states, func(s fleet.WorkerState) bool { return s.State.Live() }) {
				return nil
			}
		}
		if err := clock.Wait(ctx, logPollInterval); err != nil {
			return err
		}
	}
}

func printTails(w io.Writer, tails []*tail, end bool) error {
	for _, t := range tails {
		if err := t.print(w, end); err != nil {
			return err
		}
	}
	return nil
}

// tail prints a log as it grows.
type tail struct {
	fsys   files.FS
	path   string
	before string // prefix of each line
	offset int64  // first byte not printed yet
}

// print prints new complete lines; at the end also an incomplete last one.
func (t *tail) print(w io.Writer, end bool) error {
	file, err := t.fsys.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is logged yet
	}
	if err != nil {
		return err
	}
	defer file.Close()
	chunk := make([]byte, 1<<20)
	for {
		n, err := file.ReadAt(chunk, t.offset)
		text := chunk[:n]
		if last := bytes.LastIndexByte(text, '\n'); last >= 0 || !end && n < len(chunk) {
			text = text[:last+1]
		}
		for line := range bytes.Lines(text) {
			if _, err := fmt.Fprintf(w, "%s%s\n", t.before, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				return err
			}
		}
		t.offset += int64(len(text))
		if len(text) == 0 || err != nil && !errors.Is(err, io.EOF) {
			return ignoreEnd(err)
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
