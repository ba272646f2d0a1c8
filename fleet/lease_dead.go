package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"graft/internal/files"
)

// lockSuffix ends the names of the locks of live processes.
const lockSuffix = ".lock"

// ThisHost returns a string that identifies this machine and its current boot. The string is empty if the machine
// cannot be identified. Use it as LeaseOptions.Host.
func ThisHost(fsys files.FS) string {
	boot, err := files.ReadAll(fsys, "/proc/sys/kernel/random/boot_id", maxText)
	name, nameErr := os.Hostname()
	if err != nil || nameErr != nil {
		return ""
	}
	return name + " " + strings.TrimSpace(string(boot))
}

func (l *Leases) lockPath(id string) string { return filepath.Join(l.dir, "."+id+lockSuffix) }

// live takes the lock that tells other processes of this host that this process is alive.
func (l *Leases) live() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o.Host == "" || l.lock != nil {
		return nil
	}
	lock, err := l.fsys.Lock(l.lockPath(l.id), l.o.Host)
	if err != nil {
		return fmt.Errorf("lock the file that marks this process as alive: %w", err)
	}
	l.lock = lock
	return nil
}

// dead reports whether the process of a claim is certainly dead: it ran on this host, and the kernel has released its
// lock. Locks on other hosts depend on the file system, so they are not tested.
func (l *Leases) dead(c claim) bool {
	if l.o.Host == "" || c.Host != l.o.Host || c.Lock == "" || c.Lock == l.id || strings.ContainsAny(c.Lock, "/.") {
		return false
	}
	// No lock file: only the process itself, or one that found it dead, removes it.
	held, err := l.fsys.Locked(l.lockPath(c.Lock))
	return err == nil && !held
}

// sweepLock removes the lock of a dead process. A process writes its host into the file once it has the lock, and holds
// the lock until it ends.
func (l *Leases) sweepLock(id string) {
	path := l.lockPath(id)
	if text, err := l.read(path); err != nil || strings.TrimSpace(text) != l.o.Host || l.o.Host == "" {
		return
	}
	if held, err := l.fsys.Locked(path); err == nil && !held {
		_ = l.removed(path)
	}
}

// sweepLocks removes the locks of the dead processes of this host.
func (l *Leases) sweepLocks() {
	entries, err := l.fsys.ReadDir(l.dir)
	if err != nil {
		return // the first Take returns the error
	}
	for _, entry := range entries {
		name := entry.Name()
		if id, ok := strings.CutSuffix(name, lockSuffix); ok && len(id) > 1 && id[0] == '.' &&
			!strings.Contains(id[1:], ".") {
			l.sweepLock(id[1:])
		}
	}
}

// gone returns ErrTaken for a file that another process has just removed.
func (l *Leases) gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: another process is updating the lease", ErrTaken)
	}
	return err
}
