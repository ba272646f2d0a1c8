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

	"graft/files"
)

// Errors of leases.
var (
	// ErrTaken says that another has the task, or has had it until a moment ago.
	ErrTaken = errors.New("taken")
	// ErrLost says that a lease is no longer held: another has taken the task over, or
	// may have, since this one was silent for too long.
	ErrLost = errors.New("the lease is lost")

	errReleased = errors.New("the lease was released")
)

// taskPattern is what a task may be called: its name becomes that of files.
var taskPattern = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}$`)

// LeaseOptions say how tasks are held.
type LeaseOptions struct {
	// Owner is what others are told of who holds a task, such as a host and a process
	// number. Empty is "another process". It need not be unique.
	Owner string
	// Beat is how often a holder shows that it is alive. Zero is 5 s.
	Beat time.Duration
	// Lost is for how long a holder must have been silent, by the watch of whoever
	// wants its task, before that one may take it over. Zero is 30 s; at least three
	// beats. All who share a folder must agree on it.
	Lost time.Duration
	// Clock is the time here. Clocks of two machines are never compared. Required.
	Clock Clock
	// Host names this machine since it was started, as [ThisHost] does: the task of a
	// process of the same host can be taken over as soon as it is dead. Empty waits for
	// Lost with all.
	Host string
	// Random is the source of the name of this process, which no other may have:
	// crypto/rand.Reader. Required.
	Random io.Reader
}

// EnsureDefaults fills in what zero stands for.
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

// Validate lists all that is wrong.
func (o LeaseOptions) Validate() error {
	var faults []error
	if o.Clock == nil {
		faults = append(faults, errors.New("no clock was handed in"))
	}
	if o.Random == nil {
		faults = append(faults, errors.New("no source of random names was handed in"))
	}
	if o.Beat < 0 {
		faults = append(faults, fmt.Errorf("beat is %v; it is longer than nothing", o.Beat))
	}
	if o.Lost < 3*o.Beat {
		faults = append(faults, fmt.Errorf("lost is %v and beat %v; a holder must be able to miss a beat or two", o.Lost, o.Beat))
	}
	if len(o.Owner) > maxText/4 || len(o.Host) > maxText/4 {
		faults = append(faults, fmt.Errorf("owner and host have at most %d bytes", maxText/4))
	}
	return errors.Join(faults...)
}

// Leases are tasks that processes divide among themselves through a folder that all of
// them see. They are safe for use by several goroutines.
//
// A task that is held is a row of files, TASK.0, TASK.1 and so on, each made by an
// exclusive link. The highest holds. To beat is to make the next and remove the last
// one; to take over is to make the next as well, so that of a holder that wakes up and
// of those who want its task one goes on, whatever their clocks say. Whoever made the
// next one holds only if the one before was still there: if not, somebody else has
// come and gone in between. TASK.0 stays as long as the task is held by anybody, so
// that to take a free task is one step; it is replaced when TASK.1 is made and with
// each takeover, since it must not look as if nothing had come after it.
type Leases struct {
	fsys files.FS
	dir  string
	o    LeaseOptions
	id   string // drawn at random and told in claims: the process holds a lock of this name

	claims atomic.Int64 // made so far: their numbers make names of leases unique

	mu   sync.Mutex
	seen map[string]sighting // what others hold, by task
	lock io.Closer           // held from the first take on, where Host is known
}

// sighting is what a task's files looked like, and since when they have.
type sighting struct {
	look  string
	since time.Duration
}

// OpenLeases opens a folder of leases, and makes it where absent. Files that killed
// processes of this host have left behind are removed. Close it in the end.
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
		return nil, fmt.Errorf("open leases in %s: draw a name: %w", dir, err)
	}
	l := &Leases{fsys: fsys, dir: dir, o: o, id: fmt.Sprintf("%x", id), seen: make(map[string]sighting)}
	l.sweepLocks()
	return l, nil
}

// Close gives back what shows others that this process lives. Leases must have been
// released before; those that were not are lost at once to processes of this host.
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

// maxText bounds what is read of a claim.
const maxText = 4096

// claim is what a holder writes into a task's files.
type claim struct {
	Owner string `json:"owner"`
	ID    string `json:"claim"`          // of the lease: no two are alike
	Host  string `json:"host,omitempty"` // with the name of a lock there
	Lock  string `json:"lock,omitempty"`
}

// Lease is a task that is held. Keep it with Keep or with Beat. It is safe for use by
// several goroutines.
type Lease struct {
	leases *Leases
	task   string
	text   string // of its claim
	claim  string // path of the file that is linked
	anchor string // text of TASK.0, which another may have made

	beating sync.Mutex // held while files are changed
	number  int        // of the file that holds
	plain   bool       // the file system has no links

	mu      sync.Mutex
	last    time.Duration // when the last beat began that succeeded
	over    error         // ErrLost or errReleased
	leaving bool          // being released
	stop    context.CancelFunc
	kept    sync.WaitGroup
}

// Task is what the lease is of.
func (l *Lease) Task() string { return l.task }

// Held says whether the lease is held for sure: nobody can have taken it over.
func (l *Lease) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over == nil && !l.leaving && l.inTime()
}

// inTime says whether nobody can have taken the task over, since others count from a
// moment after the last beat. It is called with mu held.
func (l *Lease) inTime() bool { return l.leases.o.Clock.Now()-l.last < l.leases.o.Lost }

// Beat shows that the holder is alive. An error that wraps ErrLost says that the task
// is another's; after any other the lease is held until Lost has passed, and to beat
// again may succeed.
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
		return fmt.Errorf("beat for task %s: %w", l.task, over)
	}
	err := l.succeed(l.text)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.last = begun
	case errors.Is(err, ErrLost):
		l.over = ErrLost
	}
	if err != nil {
		return fmt.Errorf("beat for task %s: %w", l.task, err)
	}
	return nil
}

// succeed makes the file after number, whose text must still be as it was, and removes
// that one. Where it is another's the task is taken over.
func (l *Lease) succeed(before string) error {
	from, next := l.path(l.number), l.path(l.number+1)
	if err := l.put(next); err != nil {
		return err
	}
	err := errors.Join(l.expect(from, before), l.expect(l.path(0), l.anchor))
	if err == nil && (l.number == 0 || before != l.text) {
		err = l.sign()
	}
	if err == nil && l.number > 0 {
		// What stays here would let one who stopped long ago believe that nobody has
		// come after: no further step before it is gone.
		err = l.leases.removed(from)
	}
	if err != nil {
		return errors.Join(err, l.leases.removed(next))
	}
	l.number++
	return nil
}

// sign gives TASK.0 another text. It stays while others come and go, so by its text
// alone one who has seen it and nothing else can tell that they have.
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

// put makes a file of the task that nobody has made.
func (l *Lease) put(path string) error {
	err := l.link(path)
	switch {
	case errors.Is(err, fs.ErrExist):
		// The answer of a server that was asked twice may speak of our own file.
		if text, readErr := l.leases.read(path); readErr == nil && text == l.text {
			return nil
		}
		return fmt.Errorf("%w: another has made %s", ErrLost, path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: whoever has the task now has removed %s", ErrLost, l.claim)
	}
	return err
}

// link makes a file by an exclusive link, or where there are none by an exclusive open.
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

// expect is ErrLost unless a file has a text.
func (l *Lease) expect(path, text string) error {
	found, err := l.leases.read(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && found != text {
		return fmt.Errorf("%w: %s is no longer what it was", ErrLost, path)
	}
	return err
}

// Release gives the task back, done or not, and ends what Keep began. Files of it stay
// only after an error; then others wait for Lost as if the holder had died.
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
		// Only while nobody can take it over may the files be removed by their names.
		over = l.beat()
	}
	if over == nil {
		over = l.remove()
	}
	return errors.Join(over, l.leases.removed(l.claim))
}

// remove removes the task's files, those that came first last.
func (l *Lease) remove() error {
	if l.number > 0 {
		switch err := l.leases.fsys.Remove(l.path(l.number)); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s is gone", ErrLost, l.path(l.number))
		case err != nil:
			return err
		}
	}
	l.mu.Lock()
	inTime := l.inTime()
	l.mu.Unlock()
	if !inTime {
		return fmt.Errorf("%w: it took too long", ErrLost)
	}
	return l.leases.fsys.Remove(l.path(0))
}

func (l *Lease) path(number int) string { return l.leases.path(l.task, number) }

func (l *Leases) path(task string, number int) string {
	return filepath.Join(l.dir, fmt.Sprintf("%s.%d", task, number))
}

// removed removes a file that may be gone already.
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

// write makes a new file. It is not synced: what a power failure takes from the holder
// of a lease is not needed by anybody.
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

// text is a claim of this process.
func (l *Leases) text() (string, string) {
	c := claim{Owner: l.o.Owner, ID: fmt.Sprintf("%s%06x", l.id, l.claims.Add(1)), Host: l.o.Host}
	if c.Host != "" {
		c.Lock = l.id
	}
	text, _ := json.Marshal(c) // of strings
	return c.ID, string(text) + "\n"
}
