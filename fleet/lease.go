package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"graft/internal/files"
	"graft/internal/validate"
)

// Errors of leases.
var (
	// ErrTaken reports that another process holds the task, or held it a moment ago.
	ErrTaken = errors.New("the task is leased")
	// ErrLost reports that a lease is no longer certain: another process has taken the task over, or may have done so
	// because this process missed its heartbeats for too long.
	ErrLost = errors.New("the lease is lost")

	errReleased = errors.New("the lease was released")
)

// taskPattern restricts names of tasks, which become names of files.
var taskPattern = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}$`)

// LeaseOptions configures the heartbeats, timeouts and identity of a process that takes leases.
type LeaseOptions struct {
	// Owner describes the holder to other processes, for example by host and process number. Empty means "another
	// process". It need not be unique.
	Owner string
	// Beat is the time between two heartbeats. Zero means 5 s.
	Beat time.Duration
	// Lost is the timeout after which another process may take over the task: the holder must have sent no heartbeat
	// for this time, as measured by the other process's own clock. Lost must be at least three times Beat. Zero means
	// 30 s. All processes that share a folder must use the same value.
	Lost time.Duration
	// Clock measures time. Times of different machines are never compared. Required.
	Clock Clock
	// Host identifies this machine and its current boot, as [ThisHost] returns it. Tasks of dead processes on the same
	// host can be taken over at once. If Host is empty, a takeover always requires that Lost has passed without a
	// heartbeat.
	Host string
	// Random is the source of random bytes for the unique name of this process, such as crypto/rand.Reader. Required.
	Random io.Reader
}

// EnsureDefaults sets zero fields to their defaults.
func (o *LeaseOptions) EnsureDefaults() {
	if o.Owner == "" {
		o.Owner = "another process"
	}
	if o.Beat == 0 {
		o.Beat = 5 * time.Second
	}
	if o.Lost == 0 {
		o.Lost = 30 * time.Second
	}
}

// Validate returns an error that lists every invalid option.
func (o LeaseOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Clock == nil, "Clock is missing; set it")
	faults.When(o.Random == nil, "Random is missing; set it to a source of random names")
	faults.When(o.Beat < 0, "Beat is %v; must be more than 0", o.Beat)
	faults.When(o.Lost < 3*o.Beat, "Lost is %v and Beat is %v; Lost must be at least 3 × Beat", o.Lost, o.Beat)
	faults.When(len(o.Owner) > maxText/4 || len(o.Host) > maxText/4, "owner has %d bytes and host has %d; expected "+
		"at most %d for each",
		len(o.Owner), len(o.Host), maxText/4)
	return errors.Join(faults...)
}

// Leases assign tasks to processes through a shared folder. They are safe for concurrent use.
//
// A held task has files TASK.0, TASK.1 and so on, each created by an exclusive link. The process that created the file
// with the highest number is the holder. A heartbeat creates the file with the next number and removes the previous
// file, except TASK.0. A takeover also creates the file with the next number. If a suspended holder resumes while
// another process takes over the task, both try to create this file, but only one of them succeeds. Exactly one process
// therefore holds the task, even if their clocks differ. A process that creates a file holds the task only if the
// previous file still exists; otherwise another process has held and released the task in between. TASK.0 exists as
// long as the task is held. A process therefore takes a free task in one step, by creating TASK.0, and only one process
// succeeds. The first heartbeat and every takeover rewrite TASK.0, so that a process that watches only TASK.0 notices a
// takeover.
type Leases struct {
	fsys files.FS
	dir  string
	o    LeaseOptions
	id   string // unique name of this process; a lock of this name is held while it lives

	claims atomic.Int64 // number of claims so far, which makes their names unique

	mu   sync.Mutex
	seen map[string]sighting // tasks of other processes, by name
	lock io.Closer           // held from the first Take on, if Host is known
}

// sighting is the observed state of a task's files, with the time since which it is unchanged.
type sighting struct {
	look  string
	since time.Duration
}

// OpenLeases opens a folder of leases, and creates it if it is missing. It removes the locks of dead processes on this
// host. Call Close at the end.
func OpenLeases(fsys files.FS, dir string, o LeaseOptions) (*Leases, error) {
	o.EnsureDefaults()
	err := o.Validate()
	if err == nil {
		err = fsys.MkdirAll(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open leases in %s: %w", dir, err)
	}
	id := make([]byte, 10)
	if _, err := io.ReadFull(o.Random, id); err != nil {
		return nil, fmt.Errorf("open leases in %s: generate a name: %w", dir, err)
	}
	l := &Leases{fsys: fsys, dir: dir, o: o, id: fmt.Sprintf("%x", id), seen: make(map[string]sighting)}
	l.sweepLocks()
	return l, nil
}

// Close removes the lock of this process. Release all leases first; other processes on this host take over any
// remaining leases at once.
func (l *Leases) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	lock := l.lock
	l.lock = nil
	return errors.Join(l.fsys.Remove(l.lockPath(l.id)), lock.Close())
}

// maxText limits the bytes of a claim.
const maxText = 4096

// claim is the content of a task's files.
type claim struct {
	Owner string `json:"owner"`
	ID    string `json:"claim"`          // unique name of the lease
	Host  string `json:"host,omitempty"` // host of the process, with the name of its lock there
	Lock  string `json:"lock,omitempty"`
}

// Lease is a task that this process holds. Renew it with Keep or Beat. It is safe for concurrent use.
type Lease struct {
	leases *Leases
	task   string
	text   string // of its claim
	claim  string // path of the claim, which is linked
	anchor string // text of TASK.0, which may belong to another holder

	beating sync.Mutex // held while files change
	number  int        // highest number of a file
	plain   bool       // the file system has no links

	mu      sync.Mutex
	last    time.Duration // start of the last successful heartbeat
	over    error         // ErrLost or errReleased
	leaving bool          // being released
	stop    context.CancelFunc
	kept    sync.WaitGroup
}

// Held reports whether this process certainly holds the task: no other process can have taken it over.
func (l *Lease) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over == nil && !l.leaving && l.inTime()
}

// inTime reports whether no other process can have taken over the task. Other processes measure the timeout Lost from a
// later time than the last heartbeat. The caller holds mu.
func (l *Lease) inTime() bool { return l.leases.o.Clock.Now()-l.last < l.leases.o.Lost }

// Beat renews the lease. An error that wraps ErrLost means that another process has the task. After any other error,
// the process holds the lease until LeaseOptions.Lost has passed since the last heartbeat; a later call may succeed.
func (l *Lease) Beat() error {
	l.beating.Lock()
	defer l.beating.Unlock()
	return l.beat()
}

func (l *Lease) beat() error {
	l.mu.Lock()
	over, begun := l.over, l.leases.o.Clock.Now()
	l.mu.Unlock()
	if over != nil {
		return fmt.Errorf("heartbeat of task %s: %w", l.task, over)
	}
	err := l.advance(l.text)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.last = begun
	case errors.Is(err, ErrLost):
		l.over = ErrLost
	}
	if err != nil {
		return fmt.Errorf("heartbeat of task %s: %w", l.task, err)
	}
	return nil
}

// advance makes the next file of the task and removes the previous one, whose text must be unchanged. If another
// process made the previous file, this is a takeover.
func (l *Lease) advance(before string) error {
	from, next := l.path(l.number), l.path(l.number+1)
	if err := l.put(next); err != nil {
		return err
	}
	err := errors.Join(l.expect(from, before), l.expect(l.path(0), l.anchor))
	if err == nil && (l.number == 0 || before != l.text) {
		err = l.sign()
	}
	if err == nil && l.number > 0 {
		// A holder that stopped long ago and finds this file would continue: do not proceed until it is gone.
		err = l.leases.removed(from)
	}
	if err != nil {
		return errors.Join(err, l.leases.removed(next))
	}
	l.number++
	return nil
}

// sign rewrites TASK.0. The file stays over takeovers, so its text tells processes that watch only this file about a
// takeover.
func (l *Lease) sign() error {
	id, text := l.leases.text()
	path := l.leases.claimPath(l.task, id)
	err := l.leases.write(path, text)
	if err != nil {
		return err
	}
	if err := l.leases.fsys.Rename(path, l.path(0)); err != nil {
		return errors.Join(err, l.leases.removed(path))
	}
	l.anchor = text
	return nil
}

// put makes a new file of the task.
func (l *Lease) put(path string) error {
	err := l.link(path)
	switch {
	case errors.Is(err, fs.ErrExist):
		// If a server repeats a request, the error may be about the file made by this process.
		if text, readErr := l.leases.read(path); readErr == nil && text == l.text {
			return nil
		}
		return fmt.Errorf("%w: another process created %s", ErrLost, path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the new holder removed %s", ErrLost, l.claim)
	}
	return err
}

// link makes a file by an exclusive link or, on file systems without links, by an exclusive open.
func (l *Lease) link(path string) error {
	fsys := l.leases.fsys
	if !l.plain {
		err := fsys.Link(l.claim, path)
		if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	err := l.leases.write(path, l.text)
	if err == nil {
		l.plain = true
	}
	return err
}

// expect returns ErrLost unless a file has this text.
func (l *Lease) expect(path, text string) error {
	found, err := l.leases.read(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && found != text {
		return fmt.Errorf("%w: %s has changed", ErrLost, path)
	}
	return err
}

// Release frees the task, even if it is not done, and ends Keep. After an error, some files of the lease may remain;
// other processes then wait for LeaseOptions.Lost before they take over the task.
func (l *Lease) Release() error {
	l.mu.Lock()
	l.leaving = true
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	l.kept.Wait()
	l.beating.Lock()
	defer l.beating.Unlock()
	err := l.release()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil {
		l.over = errReleased
	}
	if err != nil {
		return fmt.Errorf("release task %s: %w", l.task, err)
	}
	return nil
}

func (l *Lease) release() error {
	l.mu.Lock()
	over, silent := l.over, l.leases.o.Clock.Now()-l.last
	l.mu.Unlock()
	if errors.Is(over, errReleased) {
		return nil
	}
	if over == nil && silent > l.leases.o.Lost/2 {
		// The files may only be removed by name while no other process can take the task
		// over.
		over = l.beat()
	}
	if over == nil {
		over = l.remove()
	}
	return errors.Join(over, l.leases.removed(l.claim))
}

// remove deletes the task's files, the lowest number last.
func (l *Lease) remove() error {
	if l.number > 0 {
		switch err := l.leases.fsys.Remove(l.path(l.number)); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s no longer exists", ErrLost, l.path(l.number))
		case err != nil:
			return err
		}
	}
	l.mu.Lock()
	inTime := l.inTime()
	l.mu.Unlock()
	if !inTime {
		return fmt.Errorf("%w: no heartbeat succeeded for %v", ErrLost, l.leases.o.Lost)
	}
	return l.leases.fsys.Remove(l.path(0))
}

func (l *Lease) path(number int) string { return l.leases.path(l.task, number) }

func (l *Leases) path(task string, number int) string {
	return filepath.Join(l.dir, fmt.Sprintf("%s.%d", task, number))
}

// removed deletes a file, and accepts that it is gone.
func (l *Leases) removed(path string) error {
	if err := l.fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (l *Leases) read(path string) (string, error) {
	text, err := files.ReadAll(l.fsys, path, maxText)
	return string(text), err
}

// write makes a new file. It is not synced: leases need not survive a power failure.
func (l *Leases) write(path, text string) error {
	file, err := l.fsys.Create(path)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, l.fsys.Remove(path))
	}
	return nil
}

func (l *Leases) claimPath(task, id string) string {
	return filepath.Join(l.dir, "."+task+"."+id+claimSuffix)
}

// text returns a new claim of this process, its name and its content.
func (l *Leases) text() (string, string) {
	c := claim{Owner: l.o.Owner, ID: fmt.Sprintf("%s%06x", l.id, l.claims.Add(1)), Host: l.o.Host}
	if c.Host != "" {
		c.Lock = l.id
	}
	text, _ := json.Marshal(c) // of strings
	return c.ID, string(text) + "\n"
}
