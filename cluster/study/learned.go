package study

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/torch/weights"
)

// Files in a run folder of 'graft learn' for schedulers.
const (
	LearnedFile   = "scheduler.safetensors" // file of the best policy over all seeds
	LearnedFolder = "schedulers"            // folder with the policies of all seeds
)

// WeightExtension is the ending of policy files.
const WeightExtension = ".safetensors"

// Learned holds a scheduler and, if 'graft learn' trained it, the policies and the training data. For a built-in
// scheduler, only Kind is set.
type Learned[K any] struct {
	Kind   K
	Seeds  []K     // policy of each seed of a run folder; nil for other schedulers
	Digest string  // digest of the weights; empty for a built-in scheduler
	From   Setting // data from which it learned; empty if unknown
}

// IsLearned reports whether 'graft learn' trained the scheduler; it returns false for a built-in scheduler.
func (l *Learned[K]) IsLearned() bool { return l.Digest != "" }

// Kinds returns one scheduler per training seed. For a built-in scheduler or a single policy file, it returns one
// scheduler.
func (l *Learned[K]) Kinds() []K {
	if len(l.Seeds) > 0 {
		return l.Seeds
	}
	return []K{l.Kind}
}

// Policies returns the number of learned policies, or zero for a built-in scheduler.
func (l *Learned[K]) Policies() int {
	if !l.IsLearned() {
		return 0
	}
	return len(l.Kinds())
}

// PolicyReader reads a policy from weights. The result mine is false if another learner wrote the weights.
type PolicyReader[K any] = func(name string, set *weights.Set) (kind K, mine bool, err error)

// ReadLearned reads a learned scheduler from a weight file or a run folder of 'graft learn'. The scheduler's name is
// the last part of the path. The first reader that recognises the weights reads them.
func ReadLearned[K any](fsys files.FS, path string, readers ...PolicyReader[K]) (l Learned[K], err error) {
	p := policies[K]{fsys: fsys, readers: readers, digest: sha256.New()}
	p.name = learnedName(path)
	info, err := fsys.Stat(path)
	folder := err == nil && info.IsDir()
	if err == nil && !folder && filepath.Ext(path) != WeightExtension {
		return l, fmt.Errorf("%s is not a learned scheduler; expected a run folder of 'graft learn' or a %s "+
			"file; a program can schedule only rigid jobs", path, WeightExtension)
	}
	file := path
	if folder {
		file = filepath.Join(path, LearnedFile)
	}
	l.Kind, err = p.read(file)
	if folder && errors.Is(err, fs.ErrNotExist) {
		return l, fmt.Errorf("%w; expected the run folder of a completed 'graft learn'", err)
	}
	if folder && err == nil {
		l.Seeds, err = p.seeds(filepath.Join(path, LearnedFolder))
	}
	l.Digest, l.From = fmt.Sprintf("%x", p.digest.Sum(nil)), p.from
	return l, err
}

// learnedName is the name of a learned scheduler: the last part of its path.
func learnedName(path string) string {
	return strings.TrimSuffix(filepath.Base(filepath.Clean(path)), WeightExtension)
}

// policies reads the policies of one scheduler.
type policies[K any] struct {
	fsys    files.FS
	name    string
	readers []PolicyReader[K]
	from    Setting
	digest  interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func (p *policies[K]) seeds(folder string) (all []K, err error) {
	entries, err := p.fsys.ReadDir(folder)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != WeightExtension {
			continue
		}
		one, err := p.read(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, err
}

func (p *policies[K]) read(path string) (kind K, err error) {
	set, err := weights.Read(p.fsys, path, weights.Options{})
	if err != nil {
		return kind, err
	}
	if p.from, err = settingOf(set); err != nil {
		return kind, fmt.Errorf("%s: %w", path, err)
	}
	for _, t := range set.Tensors {
		fmt.Fprintln(p.digest, t.Name, t.Shape)
		_, _ = p.digest.Write(t.Data) // hash writes never fail
	}
	for k, read := range p.readers {
		kind, mine, err := read(p.name, set)
		if mine || k == len(p.readers)-1 {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return kind, err
		}
	}
	return kind, fmt.Errorf("%s: the file does not contain a scheduler; expected a file that 'graft learn' wrote", path)
}

// FindSchedulers returns the schedulers for a list of names. A name that is not a built-in scheduler is the path of a
// learned scheduler. It returns an error if two schedulers have the same name.
func FindSchedulers[K any](names []string, named func(name string) (K, error),
	learned func(path string) (Learned[K], error), nameOf func(K) string) (all []Learned[K], err error) {
	for _, name := range names {
		kind, err := named(name)
		l := Learned[K]{Kind: kind}
		if err != nil {
			if l, err = learned(name); err != nil {
				return nil, err
			}
		}
		own := nameOf(l.Kind)
		switch k := slices.IndexFunc(all, func(other Learned[K]) bool { return nameOf(other.Kind) == own }); {
		case k < 0:
		case filepath.Clean(names[k]) == filepath.Clean(name):
			return nil, fmt.Errorf("%s is named twice; name each scheduler once", name)
		default:
			return nil, fmt.Errorf("two schedulers have the name %s; rename a folder or file", own)
		}
		all = append(all, l)
	}
	return all, nil
}
