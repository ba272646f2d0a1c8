package world

import (
	"fmt"
	"slices"
	"strings"

	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/words"
)

// Published describes the published study that machine.compat = "tasks" reproduces.
type Published struct {
	Schedulers []study.Entry             // schedulers that schedule.schedulers can name
	Keys       []string                  // keys that the study reads; a key that ends in a dot is a section
	New        func(f *File) study.Study // returns the simulations of a checked file
}

// published is the registered study; without registration it has no schedulers.
var published Published

// RegisterStudy adds the published study. Call it before files are read.
func RegisterStudy(p Published) { published = p }

// isPublished reports whether the file selects the published study.
func (f *File) isPublished() bool { return f.Machine.Compat == CompatTasks }

// publishedScheduler reports whether the published study has a scheduler.
func publishedScheduler(name string) bool {
	return slices.ContainsFunc(published.Schedulers, func(e study.Entry) bool { return e.Name == name })
}

// PublishedSchedulers returns the schedulers of the published study to compare: the file's schedulers or, if the file
// names none, all of them.
func (f *File) PublishedSchedulers() []string {
	if len(f.Schedule.Schedulers) > 0 {
		return f.Schedule.Schedulers
	}
	return study.Names(published.Schedulers)
}

// publishedTitle describes the published study.
func (f *File) publishedTitle() string {
	return fmt.Sprintf("%s of the published study on %s", words.Plural(f.Tasks.TestCount, "episode"),
		words.Plural(f.GPUs(), "GPU"))
}

// GPUs returns the number of GPUs.
func (f *File) GPUs() int { return len(f.Machine.options().Devices) }

// checkPublished reports keys that the published study does not have.
func (f *File) checkPublished(r *decode.Reading) {
	if published.New == nil {
		r.Blame("machine.compat", "compat is tasks, but this program was built without the published study; set "+
			"compat to \"none\"")
		return
	}
	for _, name := range f.Schedule.Schedulers {
		if !publishedScheduler(name) {
			r.Blame(schedulersKey, fmt.Sprintf("unknown scheduler %s; with machine.compat = \"tasks\", expected one "+
				"of: %s", name, strings.Join(study.Names(published.Schedulers), ", ")))
		}
	}
	if len(f.Task) > 0 {
		r.Blame("task", "[[task]] is set, but the published study generates its tasks; remove [[task]] or "+
			"machine.compat")
	}
	fresh := New()
	fresh.EnsureDefaults()
	for _, key := range r.Differing(fresh) {
		if key != "task" && !published.reads(key) {
			r.Blame(key, key+" is not used if machine.compat is tasks; remove it")
		}
	}
}

// reads reports whether the study reads a key.
func (p *Published) reads(key string) bool {
	return slices.ContainsFunc(p.Keys, func(k string) bool {
		return k == key || strings.HasSuffix(k, ".") && strings.HasPrefix(key, k)
	})
}
