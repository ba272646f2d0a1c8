package tabletest

import "graft/internal/files"

// Unsynced is a file system that does not wait for the disk, for tests that kill processes but not machines.
type Unsynced struct{ files.OS }

type unsyncedFile struct{ files.File }

// Sync does nothing, because written data survives the death of a process.
func (unsyncedFile) Sync() error { return nil }

// SyncDir does nothing, because created files survive the death of a process.
func (Unsynced) SyncDir(string) error { return nil }

// Create creates a file whose Sync does nothing.
func (u Unsynced) Create(path string) (files.File, error) { return skipSync(u.OS.Create(path)) }

// Append opens a file whose Sync does nothing.
func (u Unsynced) Append(path string) (files.File, error) { return skipSync(u.OS.Append(path)) }

func skipSync(f files.File, err error) (files.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}
