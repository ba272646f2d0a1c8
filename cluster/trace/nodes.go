package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"graft/internal/files"
)

// MaxNodes is the maximum number of nodes of a cluster, and MaxPerNode the maximum number of GPUs per node: simulations
// hold the GPUs of a node in a 64-bit word.
const (
	MaxNodes   = 1_000_000
	MaxPerNode = 64
)

// VC is a virtual cluster: a part of a cluster with its own queue.
type VC struct {
	Name  string   // name in traces
	Nodes int      // number of machines
	Types []TypeOf // machines by type of GPUs; nil if the types are unknown
}

// TypeOf holds the number of machines with a type of GPUs.
type TypeOf struct {
	Name  string // name of the type
	Nodes int    // number of machines
	GPUs  int    // GPUs per machine; zero if unknown
}

// GPUs returns the number of GPUs of a virtual cluster. The argument is the number of GPUs of nodes for which it is
// unknown.
func (vc *VC) GPUs(each int) (sum int) {
	if vc.Types == nil {
		return vc.Nodes * each
	}
	for _, t := range vc.Types {
		sum += t.Nodes * cmp.Or(t.GPUs, each)
	}
	return sum
}

// Nodes returns the total number of nodes in virtual clusters.
func Nodes(vcs []VC) int {
	sum := 0
	for _, vc := range vcs {
		sum += vc.Nodes
	}
	return sum
}

// ReadNodes reads the sizes of virtual clusters, in the order of the file. The file has a header such as ",num", and
// one line per virtual cluster with its name and its number of nodes. With a third column, "type", it has one line per
// virtual cluster and type of GPUs. A fourth column can have the number of GPUs per node.
func ReadNodes(fsys files.FS, path string) ([]VC, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	vcs, err := readNodes(file, path)
	return vcs, errors.Join(err, file.Close())
}

func readNodes(in io.Reader, path string) ([]VC, error) {
	text, err := plainText(in, path)
	if err != nil {
		return nil, err
	}
	rows := cells{lines: lines{in: text, path: path}}
	columns, err := readNodesHeader(&rows)
	if err != nil {
		return nil, err
	}
	var vcs []VC
	lineOf := map[[2]string]int{} // by virtual cluster and type
	places := map[string]int{}    // of virtual clusters in the list
	for {
		err := rows.next()
		if isEOF(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		vc, err := vcOf(&rows, columns)
		if err != nil {
			return nil, err
		}
		at := [2]string{vc.Name}
		if vc.Types != nil {
			at[1] = strings.ToLower(vc.Types[0].Name)
		}
		if before := lineOf[at]; before > 0 {
			return nil, rows.faultAt(0, "", fmt.Sprintf("%q is already in line %d", vc.Name, before),
				"remove one of the two lines with this name")
		}
		lineOf[at] = rows.first
		vcs = addNodes(vcs, vc, places)
	}
	if len(vcs) == 0 {
		return nil, rows.fault(rows.number, 0, "", "the file has no virtual clusters",
			"add a line with a name and a number of nodes")
	}
	return vcs, nil
}

// addNodes adds the nodes of a line to its virtual cluster.
func addNodes(vcs []VC, more VC, places map[string]int) []VC {
	at, known := places[more.Name]
	if !known {
		places[more.Name] = len(vcs)
		return append(vcs, more)
	}
	vcs[at].Nodes += more.Nodes
	vcs[at].Types = append(vcs[at].Types, more.Types...)
	return vcs
}

// nodeColumns are the columns of a file of virtual clusters. The name of the first one does not matter.
var nodeColumns = []string{"", "num", "type", "gpus_per_node"}

// readNodesHeader reads the first line, and returns its number of columns. The name of its first column is empty in
// files written by pandas.
func readNodesHeader(rows *cells) (columns int, err error) {
	const remedy = "begin the file with the line \",num\", \",num,type\" or \",num,type,gpus_per_node\""
	err = rows.next()
	columns = len(rows.row)
	known := columns >= 2 && columns <= len(nodeColumns)
	for k := 1; known && k < columns; k++ {
		known = string(rows.row[k]) == nodeColumns[k]
	}
	switch {
	case isEOF(err):
		return 0, rows.fault(0, 0, "", "the file is empty", remedy)
	case err != nil:
		return 0, err
	case !known:
		return 0, rows.fault(rows.first, 0, "", "unknown header; expected a list of virtual clusters", remedy)
	}
	return columns, nil
}

func vcOf(rows *cells, columns int) (VC, error) {
	if len(rows.row) != columns {
		return VC{}, rows.wrongCount(columns)
	}
	if len(rows.row[0]) == 0 {
		return VC{}, rows.faultAt(0, "name", isButWants(nil, "the name of a virtual cluster"), mendLine)
	}
	n, ok := count(rows.row[1])
	if !ok || n < 1 || n > MaxNodes {
		return VC{}, rows.faultAt(1, "num",
			isButWants(rows.row[1], fmt.Sprintf("a whole number of nodes from 1 to %d", MaxNodes)), mendLine)
	}
	vc := VC{Name: string(rows.row[0]), Nodes: n}
	if columns > 2 {
		name := string(rows.row[2])
		if strings.TrimSpace(name) == "" {
			return VC{}, rows.faultAt(2, "type", isButWants(nil, "the name of a type of GPUs"), mendLine)
		}
		vc.Types = []TypeOf{{Name: name, Nodes: n}}
	}
	if columns > 3 {
		if n, ok = count(rows.row[3]); !ok || n < 1 || n > MaxPerNode {
			return VC{}, rows.faultAt(3, nodeColumns[3],
				isButWants(rows.row[3], fmt.Sprintf("a whole number from 1 to %d", MaxPerNode)), mendLine)
		}
		vc.Types[0].GPUs = n
	}
	return vc, nil
}

// WriteNodes writes a file in the format of ReadNodes, and replaces an existing file.
func WriteNodes(fsys files.FS, path string, vcs []VC) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		_, _ = out.WriteString(",num\n") // Flush returns the first error
		var line []byte
		for _, vc := range vcs {
			line = AppendCell(line[:0], vc.Name)
			line = strconv.AppendInt(append(line, ','), int64(vc.Nodes), 10)
			_, _ = out.Write(append(line, '\n'))
		}
		return out.Flush()
	})
}

// isEOF reports whether an error is the end of the input.
func isEOF(err error) bool { return errors.Is(err, io.EOF) }
