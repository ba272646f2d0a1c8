package rigid

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/validate"
	"graft/internal/words"
)

// aliases returns the virtual cluster of each other name in the trace.
func (o *Options) aliases() (map[string]string, error) {
	of := map[string]string{}
	var faults validate.Faults
	for k, text := range o.Aliases {
		name, vc, cut := strings.Cut(text, "=")
		name, vc = strings.TrimSpace(name), strings.TrimSpace(vc)
		faults.When(!cut || name == "" || vc == "", "vc_aliases[%d] is %.80q; expected NAME=VC, such as \"debug=gpu\"",
			k, text)
		faults.When(of[name] != "", "vc_aliases has the name %.40q twice; remove one", name)
		of[name] = vc
	}
	return of, errors.Join(faults...)
}

// rename moves the jobs of other names to their virtual clusters.
func (s *inputs) rename(jobs []trace.Job) error {
	of, err := s.Cluster.aliases()
	if err != nil || len(of) == 0 {
		return err
	}
	isVC := func(name string) bool {
		return slices.ContainsFunc(s.base.VCs, func(vc trace.VC) bool { return vc.Name == name })
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if vc := of[name]; s.undivided || !isVC(vc) || isVC(name) {
			return failure.With(failure.Configuration, fmt.Errorf("vc_aliases has %q, but the virtual clusters are "+
				"%s; expected another name and one of them", name+"="+vc, s.vcNames()))
		}
	}
	seen := map[string]bool{}
	for k := range jobs {
		if vc, has := of[jobs[k].VC]; has {
			seen[jobs[k].VC] = true
			jobs[k].VC = vc
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !seen[name] {
			return failure.With(failure.Configuration, fmt.Errorf("vc_aliases has the name %.40q, but no job of the "+
				"trace has it; correct or remove it", name))
		}
	}
	return nil
}

// vcNames lists the virtual clusters.
func (s *inputs) vcNames() string {
	var names []string
	for _, vc := range s.base.VCs {
		names = append(names, vc.Name)
	}
	return words.Some(names, 8)
}
