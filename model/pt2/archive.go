package pt2

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

const (
	// largestProgram bounds models/model.json, in bytes: a network of a thousand layers takes two million.
	largestProgram = 64 << 20
	// largestList limits a list of payloads, in bytes.
	largestList = 32 << 20
	largestWord = 64 // maximum size of records with a word or a number
)

// archive is the zip file.
type archive struct {
	records map[string]*zip.File // by their names in the archive's folder
	size    int64                // size of the file
	layout
}

// open reads the directory of an archive, and checks that its kind is known.
func open(r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: the file is truncated or was not written by torch.export.save", err)
	}
	root, l, err := rootOf(z.File)
	if err != nil {
		return nil, err
	}
	a := &archive{records: make(map[string]*zip.File, len(z.File)), size: size, layout: l}
	for _, file := range z.File {
		name, inside := strings.CutPrefix(file.Name, root)
		if !inside {
			continue
		}
		if a.records[name] != nil {
			return nil, fmt.Errorf("duplicate record %.200q", name)
		}
		a.records[name] = file
	}
	return a, a.checkKind()
}

// rootOf finds the folder of the archive, and its layout.
func rootOf(found []*zip.File) (string, layout, error) {
	compiled := false
	for _, file := range found {
		folder, name := path.Split(file.Name)
		switch {
		case name == "archive_format":
			return folder, current, nil
		case name == earlier.program:
			return folder, earlier, nil
		}
		compiled = compiled || strings.Contains(folder, "aotinductor")
	}
	if compiled {
		return "", layout{}, errors.New("the archive contains compiled code but no graph; " +
			"export the network with torch.export.save")
	}
	return "", layout{}, errors.New("the zip file has no archive_format: it was not written by torch.export.save")
}

// checkKind checks the records that describe the format of the archive.
func (a *archive) checkKind() error {
	for name, known := range a.words {
		if name == "byteorder" && a.records[name] == nil {
			continue
		}
		word, err := a.read(name, largestWord)
		if err != nil {
			return err
		}
		if text := strings.TrimSpace(string(word)); text != known {
			return fmt.Errorf("%s is %.40q, expected %q; save the program again with torch.export.save", name,
				text, known)
		}
	}
	return nil
}

// read returns a record, which must be stored uncompressed.
func (a *archive) read(name string, most int64) ([]byte, error) {
	file := a.records[name]
	if file == nil {
		return nil, fmt.Errorf("the record %.200q is missing", name)
	}
	if file.Method != zip.Store || file.CompressedSize64 != file.UncompressedSize64 {
		return nil, fmt.Errorf("the record %.200q is compressed; expected an uncompressed record, as "+
			"torch.export.save writes it", name)
	}
	if file.UncompressedSize64 > uint64(min(most, a.size)) {
		return nil, fmt.Errorf("the record %.200q has %d bytes, expected at most %d", name, file.UncompressedSize64,
			min(most, a.size))
	}
	in, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("the record %.200q: %w", name, err)
	}
	defer in.Close()
	data := make([]byte, file.UncompressedSize64)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, fmt.Errorf("the record %.200q: %w", name, err)
	}
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the record %.200q: %w", name,
			errors.Join(errors.New("wrong checksum or length"), err))
	}
	return data, nil
}
