package runs

import "sync"

// kept caches the decoded files of a run, so that each is read once. The zero value is empty.
type kept struct {
	mu      sync.Mutex
	entries map[string]*keptEntry
}

// keptEntry holds the decoded value of one file or folder.
type keptEntry struct {
	once  sync.Once
	value any
	err   error
}

// keep reads a file or folder of a run once. Callers share the value and must not change it.
func keep[T any](k *kept, name string, read func() (T, error)) (T, error) {
	e := k.entry(name)
	e.once.Do(func() { e.value, e.err = read() })
	value, _ := e.value.(T)
	return value, e.err
}

func (k *kept) entry(name string) *keptEntry {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries == nil {
		k.entries = map[string]*keptEntry{}
	}
	if k.entries[name] == nil {
		k.entries[name] = &keptEntry{}
	}
	return k.entries[name]
}

// drop clears the cache.
func (k *kept) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries = nil
}
