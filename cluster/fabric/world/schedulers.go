package world

import (
	"fmt"

	"graft/cluster/fabric"
	"graft/cluster/fabric/agent"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/torch/weights"
)

// Schedulers that use knowledge of all jobs of an episode in advance.
const (
	// constant degree with the fewest blocked jobs over all episodes, selected in hindsight
	BestConstant = "best-constant"
	Exact        = "exact" // minimum number of blocked jobs, found by exact search
)

// Scheduler is a scheduler, built in or learned, that chooses the degree of each job. The built-in schedulers
// BestConstant and Exact have no function New, since they choose degrees in hindsight.
type Scheduler = study.Learned[fabric.Kind]

// Schedulers lists the default schedulers.
func Schedulers() []study.Entry {
	all := []study.Entry{{Name: BestConstant, About: "the constant degree that blocks the fewest jobs, chosen in " +
		"hindsight"}}
	for _, k := range fabric.Kinds() {
		all = append(all, study.Entry{Name: k.Name, About: k.About})
	}
	return all
}

// notes describe schedulers that are not in the list of names.
const notes = "constant-N splits all jobs into N parts, or fewer if fewer servers are free; exact finds the minimum\n" +
	"number of blocked jobs by an exhaustive search, for small episodes."

// named finds a scheduler by its name.
func named(name string) (fabric.Kind, error) {
	if name == BestConstant || name == Exact {
		return fabric.Kind{Name: name}, nil
	}
	k, err := fabric.Named(name)
	if err != nil {
		err = fmt.Errorf("%w; %s, %s and the path of a learned scheduler, such as ./%s, are also valid", err,
			BestConstant, Exact, name)
	}
	return k, err
}

func known(name string) error {
	_, err := named(name)
	return err
}

// findSchedulers finds built-in schedulers by name and reads learned schedulers. It returns false on an error.
func (f *File) findSchedulers(fsys files.FS, r *decode.Reading) bool {
	learned := func(path string) (Scheduler, error) { return study.ReadLearned(fsys, path, readAgent) }
	name := func(k fabric.Kind) string { return k.Name }
	var err error
	f.schedulers, err = study.FindSchedulers(f.Schedule.Schedulers, named, learned, name)
	if err != nil {
		r.Blame("schedule.schedulers", r.Elsewhere("schedule.schedulers", err).Error())
		return false
	}
	for k := range f.schedulers {
		if f.Schedule.Against == "" || f.schedulers[k].Kind.Name == f.Schedule.Against {
			return true
		}
	}
	r.Blame("schedule.against", fmt.Sprintf("against is %s; expected one of the schedulers of this run",
		f.Schedule.Against))
	return false
}

func readAgent(name string, set *weights.Set) (fabric.Kind, bool, error) {
	p, err := agent.ReadPolicy(set)
	if err != nil {
		return fabric.Kind{}, false, err
	}
	return agent.KindOf(name, p.Agent), true, nil
}
