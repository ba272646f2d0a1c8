package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"sync"
	"time"
)

// settled is the age from which on a change of a file gets another modification time, on all usual file systems: FAT
// has the coarsest times, of two seconds.
const settled = 3 * time.Second

// Digests computes digests of files. It reads a file again only if its size, times or inode have changed. It is safe
// for concurrent use.
type Digests struct {
	FS  FS
	now func() time.Time

	mu    sync.Mutex
	known map[string]string // by scheme and stamp
}

// NewDigests returns digests of the files of a file system. The clock now is the clock of modification times.
func NewDigests(fsys FS, now func() time.Time) *Digests {
	return &Digests{FS: fsys, now: now, known: map[string]string{}}
}

// SHA256 returns the SHA-256, in hex, of the content of a file.
func (d *Digests) SHA256(path string) (string, error) {
	return d.Of("sha256", path, func() (string, error) {
		h := sha256.New()
		err := CopyTo(h, d.FS, path)
		return hex.EncodeToString(h.Sum(nil)), err
	})
}

// CopyTo writes the content of a file to w, such as a hash.
func CopyTo(w io.Writer, fsys FS, path string) error {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(file, 0, math.MaxInt64))
	return errors.Join(err, file.Close())
}

// Of returns the digest that compute returned for the unchanged file, and otherwise calls compute. A scheme names the
// kind of digest. Digests of files that changed during or shortly before the call are not kept.
func (d *Digests) Of(scheme, path string, compute func() (string, error)) (string, error) {
	stamp, latest, err := Stamp(d.FS, path)
	if err != nil {
		return compute()
	}
	key := scheme + " " + stamp
	d.mu.Lock()
	digest, known := d.known[key]
	d.mu.Unlock()
	if known {
		return digest, nil
	}
	began := d.now()
	if digest, err = compute(); err != nil || began.Sub(latest) < settled {
		return digest, err
	}
	if after, _, err := Stamp(d.FS, path); err == nil && after == stamp {
		d.mu.Lock()
		d.known[key] = digest
		d.mu.Unlock()
	}
	return digest, nil
}
