package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"graft/internal/files"
)

// MaxNodes is the maximum number of nodes of a cluster.
const MaxNodes = 1_000_000

// VC is a virtual cluster: a part of a cluster with its own queue.
type VC struct {
	Name  string // name in traces
	Nodes int    // number of machines
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
// one line per virtual cluster with its name and its number of nodes.
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
	if err := readNodesHeader(&rows); err != nil {
		return nil, err
	}
	var vcs []VC
	lineOf := map[string]int{}
	for {
		err := rows.next()
		if isEOF(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		vc, err := vcOf(&rows)
		if err != nil {
			return nil, err
		}
		if before := lineOf[vc.Name]; before > 0 {
			return nil, rows.faultAt(0, "", fmt.Sprintf("%q is already in line %d", vc.Name, before),
				"remove one of the two lines with this name")
		}
		lineOf[vc.Name] = rows.first
		vcs = append(vcs, vc)
	}
	if len(vcs) == 0 {
		return nil, rows.fault(rows.number, 0, "", "the file has no virtual clusters",
			"add a line with a name and a number of nodes")
	}
	return vcs, nil
}

// readNodesHeader reads the first line. The name of its first column is empty in files written by pandas.
func readNodesHeader(rows *cells) error {
	const remedy = "begin the file with the line \",num\""
	err := rows.next()
	switch {
	case isEOF(err):
		return rows.fault(0, 0, "", "the file is empty", remedy)
	case err != nil:
		return err
	case len(rows.row) != 2 || !bytes.Equal(rows.row[1], []byte("num")):
		return rows.fault(rows.first, 0, "", "unknown header; expected a list of virtual clusters", remedy)
	}
	return nil
}

func vcOf(rows *cells) (VC, error) {
	if len(rows.row) != 2 {
		return VC{}, rows.wrongCount(2)
	}
	if len(rows.row[0]) == 0 {
		return VC{}, rows.faultAt(0, "name", isButWants(nil, "the name of a virtual cluster"), mendLine)
	}
	n, ok := count(rows.row[1])
	if !ok || n < 1 || n > MaxNodes {
		return VC{}, rows.faultAt(1, "num",
			isButWants(rows.row[1], fmt.Sprintf("a whole number of nodes from 1 to %d", MaxNodes)), mendLine)
	}
	return VC{Name: string(rows.row[0]), Nodes: n}, nil
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
