package vocab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"graft/internal/files"
)

// FileName is the name of a vocabulary file in its folder.
const FileName = "vocabulary.json"

// largestFile is the maximum size of a file in bytes.
const largestFile = 64 << 20

// The first two fields of a vocabulary file.
const (
	fileFormat  = "graft vocabulary"
	fileVersion = 1
)

// file is graft's format, one JSON object.
type file struct {
	Format  string      `json:"format"`  // the words "graft vocabulary"
	Version int         `json:"version"` // format version, always 1; a reader rejects any other version
	Keys    []Entry     `json:"keys"`    // unique keys; by convention the first is none-layer with token 0
	Vectors [][]float32 `json:"vectors"` // one vector per token, starting with token 0; all have the same length
}

// Read reads a vocabulary. The path can name a file in graft's format or an ids file of the original system, whose
// vectors file must be in the same folder. It can also name a folder that contains one of these files.
func Read(fsys files.FS, path string) (*Vocabulary, error) {
	v, err := read(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read vocabulary %s: %w", path, err)
	}
	return v, nil
}

func read(fsys files.FS, path string) (*Vocabulary, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if path, err = findIn(fsys, path); err != nil {
			return nil, err
		}
	}
	stem, vectors := strings.CutSuffix(path, vectorsSuffix)
	switch {
	case vectors:
		path = stem + idsSuffix
	case filepath.Ext(path) == ".json":
		return readFile(fsys, path)
	case !strings.HasSuffix(path, idsSuffix):
		return nil, fmt.Errorf("unknown extension; the name must end in .json or %s", idsSuffix)
	}
	return readPickles(fsys, path)
}

// findIn returns the only vocabulary in a folder.
func findIn(fsys files.FS, folder string) (string, error) {
	entries, err := fsys.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if e.Name() == FileName {
			return filepath.Join(folder, FileName), nil
		}
		if strings.HasSuffix(e.Name(), idsSuffix) {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w: the folder has neither %s nor a file *%s; create one with 'graft vocab build'",
			fs.ErrNotExist, FileName, idsSuffix)
	case 1:
		return filepath.Join(folder, found[0]), nil
	}
	return "", fmt.Errorf("the folder has several vocabularies: %s; use the path of one of them",
		strings.Join(found, ", "))
}

func readFile(fsys files.FS, path string) (*Vocabulary, error) {
	data, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, err
	}
	v, err := Parse(data)
	if err != nil {
		return nil, err
	}
	v.Source = path
	return v, nil
}

// Parse reads the text of a vocabulary file in graft's format. It returns an error if the text contains an unknown key.
func Parse(data []byte) (*Vocabulary, error) {
	var f file
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a vocabulary, or truncated: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("extra data after the vocabulary")
	}
	if f.Format != fileFormat || f.Version != fileVersion {
		return nil, fmt.Errorf("format %q, version %d, is not supported; expected %q, version %d", f.Format, f.Version,
			fileFormat, fileVersion)
	}
	return New(f.Keys, f.Vectors)
}

// Format writes the vocabulary in graft's format, with one line per key and vector. Parse restores a bit-identical
// vocabulary from this text.
func (v *Vocabulary) Format(w io.Writer) error {
	var keys, vectors []string
	for _, e := range v.Entries {
		key, err := quote(e.Key)
		if err != nil {
			return err
		}
		keys = append(keys, fmt.Sprintf("\n    {\"key\": %s, \"id\": %d}", key, e.ID))
	}
	for _, vector := range v.Vectors {
		var numbers []string
		for _, x := range vector {
			numbers = append(numbers, strconv.FormatFloat(float64(x), 'g', -1, 32))
		}
		vectors = append(vectors, "\n    ["+strings.Join(numbers, ", ")+"]")
	}
	_, err := fmt.Fprintf(w,
		"{\n  \"format\": %q,\n  \"version\": %d,\n  \"keys\": [%s\n  ],\n  \"vectors\": [%s\n  ]\n}\n",
		fileFormat, fileVersion, strings.Join(keys, ","), strings.Join(vectors, ","))
	return err
}

// quote writes a string without escaping < and >.
func quote(text string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(text)
	return bytes.TrimSpace(b.Bytes()), err
}

// Write writes a vocabulary file in graft's format atomically.
func (v *Vocabulary) Write(fsys files.FS, path string) error { return write(fsys, path, v.Format) }

func write(fsys files.FS, path string, format func(io.Writer) error) error {
	if err := files.WriteAtomic(fsys, path, format); err != nil {
		return fmt.Errorf("write vocabulary: %w", err)
	}
	return nil
}
