package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
)

// largestNetworkFile is the maximum size in bytes of a file with a tree of layers. Files of graphs may be larger.
const largestNetworkFile = 1 << 20

func largestFileOf(graph bool) int {
	if graph {
		return largestImported
	}
	return largestNetworkFile
}

// ReadNetwork reads a network file: JSON if its name ends in .json, otherwise TOML. The error wraps [Faults] if the
// content is invalid.
func ReadNetwork(fsys files.FS, path string) (*model.Network, error) {
	data, err := readImported(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read network: %w", err)
	}
	if len(data) > largestNetworkFile && !decode.NewDocument(path, data).Has("operators") {
		if _, err = decode.ReadAll(fsys, path, largestNetworkFile); err != nil {
			return nil, fmt.Errorf("read network: %w", err)
		}
	}
	n, err := parseNetwork(path, data)
	if err != nil {
		return nil, fmt.Errorf("read network %s: %w", path, err)
	}
	return n, nil
}

func isJSON(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

func parseNetwork(path string, data []byte) (*model.Network, error) {
	d := decode.NewDocument(path, data)
	read := d.TOML
	if isJSON(path) {
		read = d.JSON
	}
	table, err := read()
	if err != nil {
		return nil, err
	}
	n, err := model.FromForm(table)
	var found model.FormFaults
	if err != nil && !errors.As(err, &found) {
		return nil, err
	}
	if err := d.Locate(problems(found)); err != nil {
		return nil, cmp.Or(otherKind(d, isNetworkKey), err)
	}
	if _, foreign := table["operators"]; foreign && n.Graph != nil {
		n.Graph.Foreign = true
	}
	return n, nil
}

// isNetworkKey reports whether a network file may have a key.
func isNetworkKey(key string) bool {
	return key == "layers" || key == "operators" || key == "transformer"
}

func problems(faults model.FormFaults) []decode.Problem {
	list := make([]decode.Problem, len(faults))
	for k, f := range faults {
		list[k] = decode.Problem(f)
	}
	return list
}

// WriteNetwork atomically writes a network file without weights. ReadNetwork restores the network from the file. The
// file name determines the format, as in ReadNetwork. Class names, if given, become a comment in a TOML file.
func WriteNetwork(fsys files.FS, path string, n *model.Network, classes ...string) error {
	if err := n.Check(); err != nil {
		return fmt.Errorf("write network %s: the network is invalid: %w", path, err)
	}
	text := classesComment(classes) + networkText(n)
	if isJSON(path) {
		text = decode.FormatJSON(tableOf(n.Form()).(decode.Table), isParts)
	}
	if most := largestFileOf(n.Graph != nil); len(text) > most {
		return fmt.Errorf("write network %s: %d bytes exceed the limit of %d bytes for a network file", path,
			len(text), most)
	}
	return writeText(fsys, "network", path, text)
}

// classesComment returns a comment line for readers; empty without classes.
func classesComment(classes []string) string {
	if len(classes) == 0 {
		return ""
	}
	quoted := make([]string, len(classes))
	for k, name := range classes {
		quoted[k] = strconv.QuoteToGraphic(name) // without line breaks
	}
	return "# Classes, in the order of the outputs: " + strings.Join(quoted, ", ") + "\n"
}

// writeText replaces a file atomically.
func writeText(fsys files.FS, what, path, text string) error {
	err := files.WriteAtomic(fsys, path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// FormatNetwork writes a network file in TOML.
func FormatNetwork(w io.Writer, n *model.Network) error {
	_, err := io.WriteString(w, networkText(n))
	return err
}

func networkText(n *model.Network) string {
	return decode.FormatTOML(tableOf(n.Form()).(decode.Table), isParts)
}

// isParts reports whether a key of a network has one line per part.
func isParts(key string) bool {
	return slices.Contains(slices.Concat([]string{"layers", "block", "residual", "branches"}, importedKeys), key)
}

// tableOf converts a form, or a value in it, to types that package decode writes.
func tableOf(v any) any {
	switch v := v.(type) {
	case model.Form:
		t := make(decode.Table, len(v))
		for k, field := range v {
			t[k] = decode.Entry{Key: field.Key, Value: tableOf(field.Value)}
		}
		return t
	case []any:
		list := make([]any, len(v))
		for k := range v {
			list[k] = tableOf(v[k])
		}
		return list
	}
	return v
}
