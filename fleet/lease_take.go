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

// Take takes a task. One that another has is an error that wraps ErrTaken and says by
// whom; where that one is silent for too long, a later call takes the task over: call it
// again now and then.
func (l *Leases) Take(task string) (*Lease, error) {
	if !taskPattern.MatchString(task) {
		return nil, fmt.Errorf("%q is no name of a task: use up to 150 letters, digits and . _ -, and no . first", task)
	}
	lease, err := l.take(task)
	if err != nil {
		return nil, fmt.Errorf("take task %s in %s: %w", task, l.dir, err)
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
		return nil, fmt.Errorf("%w by another at this moment", ErrTaken)
	}
	return lease, err
}

// claim makes a lease of a task that is free or whose holder is lost.
func (l *Leases) claim(task string, found row) (*Lease, error) {
	id, text := l.text()
	lease := &Lease{leases: l, task: task, text: text, claim: l.claimPath(task, id)}
	begun := l.o.Clock.Now()
	err := l.write(lease.claim, text)
	if err != nil {
		return nil, err
	}
	if found.anchored() {
		lease.number, lease.anchor = found.top(), found.anchor
		err = lease.succeed(found.last)
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

// tidy removes what others have left of a task that is now held by this process. What
// cannot be removed now the next holder removes.
func (l *Leases) tidy(task string, found row, ours *Lease) {
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

// claimSuffix ends the names of the files that are linked.
const claimSuffix = ".claim"

// row is what there is of a task.
type row struct {
	numbers []int    // of its files, ascending
	claims  []string // names of its claims
	anchor  string   // text of the first file
	last    string   // text of the highest
}

// anchored says whether anybody holds the task, or did when he died.
func (r row) anchored() bool { return len(r.numbers) > 0 && r.numbers[0] == 0 }

// top is the highest number.
func (r row) top() int { return r.numbers[len(r.numbers)-1] }

// String changes with each beat.
func (r row) String() string { return fmt.Sprint(r.numbers, r.anchor, r.last) }

// look reads what there is of a task.
func (l *Leases) look(task string) (row, error) {
	entries, err := l.fsys.ReadDir(l.dir)
	if err != nil {
		return row{}, err
	}
	var found row
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
		// It went while it was looked at, or cannot be read.
		return row{}, l.gone(err)
	}
	return found, nil
}

// add takes note of a file where it is one of the task's.
func (r *row) add(task, name string) {
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

// Holder is who holds a task.
type Holder struct {
	Task  string
	Owner string // as it calls itself
	Dead  bool   // it has died on this machine; of others that is not known
}

// Holders lists the tasks that are held, by their names; those of processes that have
// died are among them until somebody takes them over. Nothing is changed.
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
			continue // it was given back meanwhile
		}
		var c claim
		if json.Unmarshal([]byte(found.last), &c) != nil || c.Owner == "" {
			c.Owner = "another process"
		}
		list = append(list, Holder{task, c.Owner, l.dead(c)})
	}
	return list, nil
}

// judge says who holds a task, and whether that one may be taken for lost.
func (l *Leases) judge(task string, found row) (holder string, free bool) {
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

// forget drops what was seen of a task that nobody else holds.
func (l *Leases) forget(task string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, task)
}
