package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Take acquires a task. If another process holds it, the error wraps ErrTaken and names the holder. Call Take again
// from time to time: a call takes over the task if the holder has sent no heartbeat for LeaseOptions.Lost.
func (l *Leases) Take(task string) (*Lease, error) {
	if !taskPattern.MatchString(task) {
		return nil, fmt.Errorf("invalid task name %q; expected 1 to 150 letters, digits, '.', '_' and '-', not "+
			"starting with '.'", task)
	}
	lease, err := l.take(task)
	if err != nil {
		return nil, fmt.Errorf("lease task %s in %s: %w", task, l.dir, err)
	}
	return lease, nil
}

func (l *Leases) take(task string) (*Lease, error) {
	if err := l.live(); err != nil {
		return nil, err
	}
	found, err := l.look(task)
	if err != nil {
		return nil, err
	}
	if found.anchored() {
		holder, free := l.judge(task, found)
		if !free {
			return nil, fmt.Errorf("%w by %s", ErrTaken, holder)
		}
	}
	lease, err := l.claim(task, found)
	if errors.Is(err, ErrLost) {
		return nil, fmt.Errorf("%w: another process is updating the lease", ErrTaken)
	}
	return lease, err
}

// claim acquires a task that is free or whose holder is lost.
func (l *Leases) claim(task string, found taskFiles) (*Lease, error) {
	id, text := l.text()
	lease := &Lease{leases: l, task: task, text: text, claim: l.claimPath(task, id)}
	begun := l.o.Clock.Now()
	err := l.write(lease.claim, text)
	if err != nil {
		return nil, err
	}
	if found.anchored() {
		lease.number, lease.anchor = found.top(), found.anchor
		err = lease.advance(found.last)
	} else {
		lease.anchor = text
		err = lease.put(lease.path(0))
	}
	if err != nil {
		return nil, errors.Join(err, l.removed(lease.claim))
	}
	lease.last = begun
	l.forget(task)
	l.tidy(task, found, lease)
	return lease, nil
}

// tidy removes files that other processes left of a task that this process now holds. The next holder removes the rest.
func (l *Leases) tidy(task string, found taskFiles, ours *Lease) {
	for _, number := range found.numbers {
		if number != 0 && number < max(ours.number-1, 0) || ours.number == 0 && number > 0 {
			_ = l.removed(l.path(task, number))
		}
	}
	for _, name := range found.claims {
		_ = l.removed(filepath.Join(l.dir, name))
	}
	var last claim
	if json.Unmarshal([]byte(found.last), &last) == nil && last.Lock != "" && last.Lock != l.id {
		l.sweepLock(last.Lock)
	}
}

// claimSuffix ends the names of claims, the files that are linked.
const claimSuffix = ".claim"

// taskFiles holds the files of a task.
type taskFiles struct {
	numbers []int    // of its files, ascending
	claims  []string // names of its claims
	anchor  string   // text of the first file
	last    string   // text of the highest
}

// anchored reports whether a live or dead process holds the task.
func (r taskFiles) anchored() bool { return len(r.numbers) > 0 && r.numbers[0] == 0 }

// top returns the highest number.
func (r taskFiles) top() int { return r.numbers[len(r.numbers)-1] }

// String returns the numbers and the contents of the task's files as text, for comparison with an earlier state. The
// text changes with each heartbeat.
func (r taskFiles) String() string { return fmt.Sprint(r.numbers, r.anchor, r.last) }

// look reads the files of a task.
func (l *Leases) look(task string) (taskFiles, error) {
	entries, err := l.fsys.ReadDir(l.dir)
	if err != nil {
		return taskFiles{}, err
	}
	var found taskFiles
	for _, entry := range entries {
		found.add(task, entry.Name())
	}
	slices.Sort(found.numbers)
	if !found.anchored() {
		return found, nil
	}
	if found.anchor, err = l.read(l.path(task, 0)); err == nil {
		found.last, err = l.read(l.path(task, found.top()))
	}
	if err != nil {
		// It was just removed, or cannot be read.
		return taskFiles{}, l.gone(err)
	}
	return found, nil
}

// add records a file if it is one of the task's.
func (r *taskFiles) add(task, name string) {
	if rest, ok := strings.CutPrefix(name, task+"."); ok {
		if number, err := strconv.Atoi(rest); err == nil && strconv.Itoa(number) == rest && number >= 0 {
			r.numbers = append(r.numbers, number)
		}
	}
	if rest, ok := strings.CutPrefix(name, "."+task+"."); ok {
		if id, ok := strings.CutSuffix(rest, claimSuffix); ok && !strings.Contains(id, ".") {
			r.claims = append(r.claims, name)
		}
	}
}

// Holder describes the holder of a task.
type Holder struct {
	Task  string
	Owner string // LeaseOptions.Owner of the holder
	Dead  bool   // the holder is certainly dead; only processes on this host are tested
}

// Holders lists the held tasks by name, including tasks of dead processes that no other process has taken over yet. It
// changes nothing.
func (l *Leases) Holders() ([]Holder, error) {
	entries, err := l.fsys.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("list leases in %s: %w", l.dir, err)
	}
	var list []Holder
	for _, entry := range entries {
		task, anchored := strings.CutSuffix(entry.Name(), ".0")
		if !anchored || strings.HasPrefix(task, ".") {
			continue
		}
		found, err := l.look(task)
		if err != nil || !found.anchored() {
			continue // it was just released
		}
		var c claim
		if json.Unmarshal([]byte(found.last), &c) != nil || c.Owner == "" {
			c.Owner = "another process"
		}
		list = append(list, Holder{task, c.Owner, l.dead(c)})
	}
	return list, nil
}

// judge returns the holder of a task, and whether the holder is lost.
func (l *Leases) judge(task string, found taskFiles) (holder string, free bool) {
	var last claim
	if json.Unmarshal([]byte(found.last), &last) != nil || last.Owner == "" {
		last.Owner = "another process"
	}
	l.mu.Lock()
	now, look := l.o.Clock.Now(), found.String()
	was, known := l.seen[task]
	if !known || was.look != look {
		was = sighting{look, now}
		l.seen[task] = was
	}
	l.mu.Unlock()
	return last.Owner, now-was.since >= l.o.Lost || l.dead(last)
}

// forget drops the sighting of a task that no other process holds.
func (l *Leases) forget(task string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, task)
}
