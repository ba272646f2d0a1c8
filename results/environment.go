package results

import "time"

// Environment is what a manifest says of the process that makes a run. Everything is
// handed in; the zero value leaves it unknown.
type Environment struct {
	Graft   string           // version of graft
	Host    string           // name of the machine
	Command []string         // program and arguments
	Now     func() time.Time // the machine's clock; nil leaves the time out
}

// Manifest returns a manifest of a run that begins now, for the caller to say what is
// run: seed, device, digests and network.
func (e Environment) Manifest() Manifest {
	m := Manifest{Graft: e.Graft, Host: e.Host, CommandLine: e.Command}
	if e.Now != nil {
		m.Created = e.Now().UTC()
	}
	return m
}
