package trace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/internal/validate"
	"graft/internal/words"
)

// Aliases moves the jobs of other names in a trace to virtual clusters. Nil moves no job.
type Aliases struct {
	key  string
	of   map[string]string
	seen map[string]bool // names that jobs have
}

// ParseAliases reads aliases such as "debug=gpu". The argument key names the list in errors.
func ParseAliases(key string, list []string) (*Aliases, error) {
	a := &Aliases{key, map[string]string{}, map[string]bool{}}
	var faults validate.Faults
	for k, text := range list {
		name, vc, cut := strings.Cut(text, "=")
		name, vc = strings.TrimSpace(name), strings.TrimSpace(vc)
		faults.When(!cut || name == "" || vc == "", "%s[%d] is %.80q; expected NAME=VC, such as \"debug=gpu\"", key, k,
			text)
		faults.When(a.of[name] != "", "%s has the name %.40q twice; remove one", key, name)
		a.of[name] = vc
	}
	return a, errors.Join(faults...)
}

// Check returns an error for an alias that is the name of a virtual cluster, or that has no virtual cluster.
func (a *Aliases) Check(vcs []VC) error {
	isVC := func(name string) bool {
		return slices.ContainsFunc(vcs, func(vc VC) bool { return vc.Name == name })
	}
	for _, name := range a.names() {
		if vc := a.of[name]; !isVC(vc) || isVC(name) {
			return fmt.Errorf("%s has %q, but the virtual clusters are %s; expected another name and one of them",
				a.key, name+"="+vc, namesOf(vcs))
		}
	}
	return nil
}

func (a *Aliases) names() []string {
	if a == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(a.of))
}

// namesOf lists virtual clusters.
func namesOf(vcs []VC) string {
	var names []string
	for _, vc := range vcs {
		names = append(names, vc.Name)
	}
	return words.Some(names, 8)
}

// Rename moves a job to its virtual cluster.
func (a *Aliases) Rename(j *Job) {
	if a == nil {
		return
	}
	if vc, has := a.of[j.VC]; has {
		a.seen[j.VC] = true
		j.VC = vc
	}
}

// Unused returns an error for an alias that no renamed job had.
func (a *Aliases) Unused() error {
	for _, name := range a.names() {
		if !a.seen[name] {
			return fmt.Errorf("%s has the name %.40q, but no job of the trace has it; correct or remove it", a.key,
				name)
		}
	}
	return nil
}
