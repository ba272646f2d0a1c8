package results

import "time"

// Environment describes the process that makes a run, for its manifest. The zero value
// leaves everything unknown.
type Environment struct {
	Graft   string           // version of graft
	Host    string           // name of the machine
	Command []string         // program and arguments
	Now     func() time.Time // the machine's clock; nil leaves the time out
}

// Manifest returns the manifest of a run that begins now. The caller adds seed, device,
// digests and network.
func (e Environment) Manifest() Manifest {
	m := Manifest{Graft: e.Graft, Host: e.Host, CommandLine: e.Command}
	if e.Now != nil {
		m.Created = e.Now().UTC()
	}
	return m
}
