package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/model/graph"
)

// largestImported is the maximum size of a file in bytes.
const largestImported = 32 << 20

// mostItems limits the items of a network file. Each takes some hundred bytes of memory while the file is read, so that
// reading takes less than 1 GB.
const mostItems = 1 << 21

// readImported reads the text of a network file, which may hold an imported network.
func readImported(fsys files.FS, path string) ([]byte, error) {
	data, err := decode.ReadAll(fsys, path, largestImported)
	if err != nil {
		return nil, err
	}
	items := 0
	for _, separator := range []string{",", "[", "\n"} {
		items += bytes.Count(data, []byte(separator))
	}
	if items > mostItems {
		return nil, fmt.Errorf("%s has %d lines and list items; a network file may have at most %d", path, items,
			mostItems)
	}
	return data, nil
}

// importedKeys are the keys of lists with one line per item.
var importedKeys = []string{"modules", "tensors", "operators"}

// ReadImported reads the TOML file of an imported network. The error wraps [Faults] if the content is invalid.
func ReadImported(fsys files.FS, path string) (*graph.Graph, error) {
	data, err := readImported(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read network: %w", err)
	}
	g, err := parseImported(decode.NewDocument(path, data))
	if err != nil {
		return nil, fmt.Errorf("read network %s: %w", path, err)
	}
	return g, nil
}

func parseImported(d *decode.Document) (*graph.Graph, error) {
	table, err := d.TOML()
	if err != nil {
		return nil, err
	}
	g, err := graph.FromForm(table)
	var found model.FormFaults
	if err != nil && !errors.As(err, &found) {
		return nil, err
	}
	if err := d.Locate(problems(found)); err != nil {
		return nil, cmp.Or(otherKind(d, isImportedKey), err)
	}
	g.Foreign = true
	return g, nil
}

func isImportedKey(key string) bool { return key == "operators" }

// IsImported reports whether a file contains an imported network. It returns false for a file that cannot be read.
func IsImported(fsys files.FS, path string) bool {
	data, err := readImported(fsys, path)
	return err == nil && !isJSON(path) && decode.NewDocument(path, data).Has("operators")
}

// WriteImported writes the file of an imported network atomically, without its weights.
func WriteImported(fsys files.FS, path string, g *graph.Graph) error {
	text := decode.FormatTOML(tableOf(g.Form()).(decode.Table),
		func(key string) bool { return slices.Contains(importedKeys, key) })
	if len(text) > largestImported {
		return fmt.Errorf("write network %s: %d bytes exceed the limit of %d bytes for a network file", path,
			len(text), largestImported)
	}
	return writeText(fsys, "network", path, text)
}
