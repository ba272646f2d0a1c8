package config

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"graft/cluster/schedulers"
	"graft/config/decode"
	"graft/internal/files"
)

// ClusterKind is the kind of files with the section cluster.
var ClusterKind = &Kind{
	Name: "cluster", Noun: "simulations of a cluster", Command: "graft cluster run",
	Files: "files of simulations of a cluster", Title: "simulations of a cluster",
	Sections: []string{"cluster"}, New: func() File { return &Cluster{} }, Summary: summaryOf((*Cluster).Summary),
	Page: Page{Title: "Keys of the file of simulations of a cluster",
		Intro: "A file with the section `cluster`, for `graft cluster run`. See [the cluster](cluster.md).\n"},
}

// Cluster is the file of simulations of a cluster: its jobs, schedulers and output.
type Cluster struct {
	Cluster            ClusterOptions  // cluster and trace
	Schedule           ClusterSchedule // schedulers and their estimates
	schedulers.Options                 // sections of the schedulers that have options
	Output             ClusterOutput   // run folder and tables

	sources
}

// ReadCluster is ClusterKind.Read.
func ReadCluster(fsys files.FS, path string, set []string) (*Cluster, error) {
	return readAs[*Cluster](ClusterKind, fsys, path, set)
}

// EnsureDefaults fills in what zero stands for.
func (c *Cluster) EnsureDefaults() {
	c.Cluster.EnsureDefaults()
	c.Schedule.EnsureDefaults()
}

// Validate joins all that is wrong.
func (c *Cluster) Validate() error {
	return errors.Join(c.Cluster.Validate(), c.Schedule.Validate(), c.Options.Validate(), c.Output.Validate())
}

// Resolved is the text of the file with every value.
func (c *Cluster) Resolved() string { return Resolved(c) }

// Digest does not cover the contents of the files that are named.
func (c *Cluster) Digest() string { return digest(c, func(io.Writer) {}) }

// QuoteList writes texts as an assignment to a key has them.
func QuoteList(list []string) string {
	quoted := make([]string, len(list))
	for k, text := range list {
		quoted[k] = decode.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Quote writes a text as an assignment to a key has it.
func Quote(text string) string { return decode.Quote(text) }

// Summary is simulations of a cluster in a line.
func (c *Cluster) Summary() (string, error) {
	return fmt.Sprintf("the jobs of %s under %s, placement %s, quirks of %s, loads %v; digest %.12s",
		c.Cluster.Trace, strings.Join(c.Schedule.Schedulers, ", "), c.Cluster.Placement, c.Cluster.Compat,
		c.Schedule.Loads, c.Digest()), nil
}
