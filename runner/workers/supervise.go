package workers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/files"
)

// PollInterval returns the default time between two polls of an engine's workers; zero means the default of package
// fleet.
func PollInterval(engine string) time.Duration {
	if engine == "local" {
		return 200 * time.Millisecond
	}
	return 0
}

// ValidInterval returns an error for an invalid time between polls; zero means a default.
func ValidInterval(every time.Duration) error {
	if every < 0 || every > 0 && every < time.Millisecond {
		return failure.Usagef("the polling interval is %v; must be at least 1 ms", every)
	}
	return nil
}

// LastLogLine returns an error with the last log line of a failed worker.
func LastLogLine(fsys files.FS, f *fleet.Fleet) error {
	states, err := f.Workers(context.Background())
	for _, s := range states {
		if s.State != fleet.Failed {
			continue
		}
		text, err := files.ReadAll(fsys, s.Log, largestLog)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return fmt.Errorf("worker %d: %s", s.Worker, lines[len(lines)-1])
	}
	return err
}

// largestLog is the maximum size of a worker's log to read, in bytes.
const largestLog = 64 << 20
