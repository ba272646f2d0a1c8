package costs

import (
	"embed"
	"fmt"
	"path"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/registry"
)

//go:embed hardware/*.toml
var shipped embed.FS

// Library returns the hardware that graft ships, sorted by name.
func Library() registry.List[*Hardware] {
	entries, err := shipped.ReadDir("hardware")
	if err != nil {
		panic("costs: the embedded folder is missing: " + err.Error())
	}
	var all registry.List[*Hardware]
	for _, entry := range entries {
		text, err := shipped.ReadFile(path.Join("hardware", entry.Name()))
		if err == nil {
			var h *Hardware
			if h, err = Parse(entry.Name(), text); err == nil {
				all = append(all, h)
				continue
			}
		}
		panic("costs: shipped hardware: " + err.Error())
	}
	return all
}

// Find returns the hardware from a file if the text looks like a path or ends in .toml. Otherwise it returns the
// shipped hardware with this name.
func Find(fsys files.FS, text string) (*Hardware, error) {
	if !files.IsPath(text) {
		return Library().Named("hardware", text)
	}
	data, err := decode.ReadAll(fsys, text, decode.LargestFile)
	if err != nil {
		return nil, fmt.Errorf("read hardware constants: %w", err)
	}
	return Parse(text, data)
}

// dialect has no words or descriptions: all constants are numbers and texts.
var dialect decode.Dialect

// Parse reads the text of a hardware file. The path is used in errors, which wrap decode.Faults.
func Parse(path string, text []byte) (*Hardware, error) {
	h := &Hardware{}
	r, err := dialect.Read(decode.NewDocument(path, text), nil, h)
	if err == nil {
		r.Validate()
		err = r.Finish()
	}
	if err != nil {
		return nil, fmt.Errorf("read hardware constants: %w", err)
	}
	return h, nil
}

// Format returns the text of a hardware file. Parse restores the hardware from the text.
func Format(h *Hardware) string { return dialect.Resolved(h) }
