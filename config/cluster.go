package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"graft/cluster/schedulers"
	"graft/files"
)

// Cluster is the file of simulations of a cluster: which jobs run where, who schedules
// them, and what is written.
type Cluster struct {
	Cluster            ClusterOptions  // which jobs are simulated, and on what
	Schedule           ClusterSchedule // who schedules them, and what it knows
	schedulers.Options                 // of schedulers that have some, in a section each
	Output             ClusterOutput   // what is written

	given map[string]Source
}

// ReadCluster reads the file of simulations of a cluster, then assignments such as
// schedule.schedulers=["fifo"]; an empty path is no file. Where anything that is written is
// wrong, the error wraps [Faults].
func ReadCluster(fsys files.FS, path string, set []string) (*Cluster, error) {
	c := &Cluster{}
	r, err := readInto(fsys, path, set, c)
	if err == nil {
		c.given = r.given
		r.defaults()
		r.validate()
		err = r.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("read simulations of a cluster: %w", err)
	}
	return c, nil
}

// IsCluster says whether a file is one of simulations of a cluster: it has the section
// cluster. What cannot be read is none.
func IsCluster(fsys files.FS, path string) bool { return sectionsOf(fsys, path)["cluster"] != nil }

// EnsureDefaults fills in what zero stands for.
func (c *Cluster) EnsureDefaults() {
	c.Cluster.EnsureDefaults()
	c.Schedule.EnsureDefaults()
}

// Validate lists all that is wrong.
func (c *Cluster) Validate() error {
	return errors.Join(c.Cluster.Validate(), c.Schedule.Validate(), c.Options.Validate(), c.Output.Validate())
}

var clusterOutline = outlineOf(reflect.TypeFor[Cluster]())

// Values lists all keys in the order of a file.
func (c *Cluster) Values() []Value {
	return valuesOf(clusterOutline, reflect.ValueOf(c).Elem(), c.given)
}

// Resolved is the file with every value filled in. ReadCluster reads the same from it.
func (c *Cluster) Resolved() string { return layoutStruct(clusterOutline, reflect.ValueOf(c).Elem()) }

// Described is Resolved with what each key is for as a comment above it.
func (c *Cluster) Described() string {
	return layoutDescribed(clusterOutline, reflect.ValueOf(c).Elem())
}

// Digest is a SHA-256 in hex over all that results depend on, but what stands in the files
// that are named.
func (c *Cluster) Digest() string {
	h := sha256.New()
	for _, v := range c.Values() {
		if !slices.Contains([]string{"output.folder", "schedule.workers"}, v.Key) {
			fmt.Fprintf(h, "%s = %s\n", v.Key, v.Text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// QuoteList writes texts as an assignment to a key has them.
func QuoteList(list []string) string {
	quoted := make([]string, len(list))
	for k, text := range list {
		quoted[k] = quoteTOML(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Quote writes a text as an assignment to a key has it.
func Quote(text string) string { return quoteTOML(text) }
