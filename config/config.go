// Package config is where what a user writes down becomes what the rooms below
// work on. It is the only room that knows TOML, and it tells all faults of a file
// at once, each with its line. It reads and writes the files of networks.
package config

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"graft/files"
	"graft/model"
)

// largestNetworkFile is in bytes.
const largestNetworkFile = 1 << 20

// ReadNetwork reads a network's file: JSON where its name ends in .json, and TOML
// otherwise. Where the file can be read but what it says is wrong, the error wraps
// [Faults].
func ReadNetwork(fsys files.FS, path string) (*model.Network, error) {
	data, err := files.ReadAll(fsys, path, largestNetworkFile)
	if err != nil {
		return nil, fmt.Errorf("read network: %w", err)
	}
	n, err := parseNetwork(path, data)
	if err != nil {
		return nil, fmt.Errorf("read network %s: %w", path, err)
	}
	return n, nil
}

func isJSON(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

func parseNetwork(path string, data []byte) (*model.Network, error) {
	read := readTOML
	if isJSON(path) {
		read = readJSON
	}
	d := newDocument(path, data)
	table, err := read(d)
	if err != nil {
		return nil, err
	}
	n, err := model.FromForm(table)
	if err := d.locate(err); err != nil {
		return nil, err
	}
	return n, nil
}

// WriteNetwork writes a network's file, from which ReadNetwork makes the same
// network; its weights are not part of it. The name says JSON or TOML as for
// ReadNetwork. The file is replaced as a whole or not at all.
func WriteNetwork(fsys files.FS, path string, n *model.Network) error {
	if err := n.Check(); err != nil {
		return fmt.Errorf("write network %s: it could not be read again: %w", path, err)
	}
	format := FormatNetwork
	if isJSON(path) {
		format = formatJSON
	}
	var b bytes.Buffer
	if err := format(&b, n); err != nil {
		return fmt.Errorf("write network %s: %w", path, err)
	}
	if b.Len() > largestNetworkFile {
		return fmt.Errorf("write network %s: it takes %d bytes, and a network's file has at most %d", path, b.Len(), largestNetworkFile)
	}
	err := files.WriteAtomic(fsys, path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return fmt.Errorf("write network: %w", err)
	}
	return nil
}

// FormatNetwork writes a network's file in TOML.
func FormatNetwork(w io.Writer, n *model.Network) error {
	_, err := io.WriteString(w, layoutTOML(n.Form()))
	return err
}

func formatJSON(w io.Writer, n *model.Network) error {
	_, err := io.WriteString(w, layoutJSON(n.Form()))
	return err
}
