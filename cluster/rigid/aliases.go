package rigid

import (
	"graft/cluster/trace"
	"graft/internal/failure"
)

// aliases returns the aliases of the virtual clusters.
func (o *Options) aliases() (*trace.Aliases, error) {
	return trace.ParseAliases("vc_aliases", o.Aliases)
}

// rename moves the jobs of other names to their virtual clusters.
func (s *inputs) rename(jobs []trace.Job) error {
	of, err := s.Cluster.aliases()
	if err != nil || len(s.Cluster.Aliases) == 0 {
		return err
	}
	if s.undivided {
		return invalid("vc_aliases needs virtual clusters; set cluster.vc_file, or remove vc_aliases")
	}
	if err := of.Check(s.base.VCs); err != nil {
		return failure.With(failure.Configuration, err)
	}
	for k := range jobs {
		of.Rename(&jobs[k])
	}
	return failure.With(failure.Configuration, of.Unused())
}
