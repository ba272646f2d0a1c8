package tensorboardtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"graft/results/tensorboard"
)

// ReadRun reads the event files of a folder in the order of their names. The files may grow during the call. A folder
// without event files has no events.
func ReadRun(folder string) ([]tensorboard.Event, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.tfevents"))
	if err != nil {
		return nil, err
	}
	var events []tensorboard.Event
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		part, err := Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		events = append(events, part...)
	}
	return events, nil
}
