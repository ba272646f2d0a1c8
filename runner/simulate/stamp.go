package simulate

import (
	"path/filepath"
	"strings"
	"time"

	"graft/dataset"
	"graft/internal/files"
	"graft/report/runs"
)

// settled is the age of a file from which on a later change gets another time, on all usual file systems: FAT has the
// coarsest times, of two seconds.
const settled = 3 * time.Second

// largestStamp limits the file of the stamp, in bytes.
const largestStamp = 1 << 10

// stamp identifies the files of the images, and the version of graft that reads them. It is empty if the images are
// generated, or if a file is so new that another change might not be seen.
func (s *workspace) stamp() string {
	if s.Job.Program.On() {
		return ""
	}
	digest, latest, err := dataset.Stamp(s.env.Files, s.Data)
	if err != nil || digest == "" || s.env.Now().Sub(latest) < settled {
		return ""
	}
	return digest + " " + s.env.Version
}

// readStamp returns the stamp of the last check; empty if there is none.
func (s *workspace) readStamp() string {
	text, err := files.ReadAll(s.env.Files, filepath.Join(s.folder, runs.StampFile), largestStamp)
	if err != nil { // the images are loaded and checked
		return ""
	}
	return strings.TrimSpace(string(text))
}

// writeStamp stores the stamp of images that were checked. An empty stamp is not stored.
func (s *workspace) writeStamp(stamp string) error {
	if stamp == "" {
		return nil
	}
	return s.env.WriteText(filepath.Join(s.folder, runs.StampFile), stamp+"\n")
}
