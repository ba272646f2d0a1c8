package weights

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"graft/internal/files"
)

// Read reads a weight file. It detects the format from the content, not from the name, and returns it in
// Set.Format.
func Read(fsys files.FS, path string, opt Options) (*Set, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	set, err := readFile(file, opt)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read weights from %s: %w", path, err)
	}
	return set, nil
}

func readFile(file files.File, opt Options) (*Set, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("the path is a folder; use a file in the folder")
	}
	return ReadFrom(file, info.Size(), opt)
}

// ReadFrom reads weights in any format from r; size is the length of the content in bytes.
func ReadFrom(r io.ReaderAt, size int64, opt Options) (*Set, error) {
	kind, err := Detect(r, size)
	if err != nil {
		return nil, err
	}
	switch kind {
	case PTH:
		return ReadPTH(r, size, opt)
	case PTHLegacy:
		return ReadPTHLegacy(r, size, opt)
	}
	return ReadSafetensors(r, size, opt)
}

// Detect determines the format from the first bytes. Content that is neither a zip file nor a pickle is assumed to be
// safetensors, which have no magic number.
func Detect(r io.ReaderAt, size int64) (Format, error) {
	head := make([]byte, min(size, markSize))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), head); err != nil {
		return Unknown, fmt.Errorf("read the first bytes: %w", err)
	}
	switch {
	case len(head) == 0:
		return Unknown, errors.New("the file is empty")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return PTH, nil
	case isPickle(head):
		return PTHLegacy, nil
	}
	return Safetensors, nil
}

// markSize is the length of a safetensors header's size field and its opening brace.
const markSize = lengthSize + 1

// isPickle looks for the opcode PROTO and a version. The same two bytes may begin the length of a safetensors header;
// then the brace follows.
func isPickle(head []byte) bool {
	return len(head) >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 &&
		(len(head) < markSize || head[markSize-1] != '{')
}

// writers are the formats that can be written, by file extension.
var writers = map[string]struct {
	format Format
	write  func(io.Writer, *Set) error
}{
	".pth":         {PTH, WritePTH},
	".pt":          {PTH, WritePTH},
	".safetensors": {Safetensors, WriteSafetensors},
}

// FormatOf returns the format in which Write writes a file with this name. For an unknown extension, the error lists
// the known extensions.
func FormatOf(path string) (Format, error) {
	w, ok := writers[filepath.Ext(path)]
	if !ok {
		return Unknown, fmt.Errorf("%s has no known extension; use .pth, .pt or .safetensors", path)
	}
	return w.format, nil
}

// Write writes a weight file atomically, in the format that its extension selects.
func Write(fsys files.FS, path string, set *Set) error {
	if _, err := FormatOf(path); err != nil {
		return fmt.Errorf("write weights: %w", err)
	}
	w := writers[filepath.Ext(path)]
	return files.WriteAtomic(fsys, path, func(out io.Writer) error { return w.write(out, set) })
}
