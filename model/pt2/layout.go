package pt2

import (
	"bytes"
	"fmt"
	"path"

	"graft/torch/weights"
)

// layout describes where an archive keeps its parts. Two are known: from save in torch/export/__init__.py before
// PyTorch 2.8, and since then.
type layout struct {
	program string            // name of the program if it is fixed; otherwise it is the only file in the folder models
	saved   map[string]string // files of torch.save with the tensors of a folder
	extra   string            // folder of extra files
	words   map[string]string // records that describe the format of the archive
}

var (
	current = layout{
		extra: "extra/",
		words: map[string]string{"archive_format": "pt2", "archive_version": "0", "byteorder": "little"},
		saved: map[string]string{"weights": "data/weights/model.pt", "constants": "data/constants/model.pt"},
	}
	earlier = layout{
		extra:   "extra_files/",
		program: "serialized_exported_program.json",
		saved:   map[string]string{"weights": "serialized_state_dict.pt", "constants": "serialized_constants.pt"},
	}
)

// findProgram returns the name of the archive's one program.
func (a *archive) findProgram() (string, error) {
	if a.program != "" {
		return a.program, nil
	}
	var found []string
	for name := range a.records {
		if ok, _ := path.Match("models/*.json", name); ok {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("the folder models/ contains %d programs, expected one", len(found))
	}
	return found[0], nil
}

// readSaved reads the tensors that the archive keeps in one file of torch.save, if there is one. Package weights makes
// plain tensors from the file and executes nothing.
func (p *payloads) readSaved(a *archive) error {
	name := a.saved[p.folder]
	if a.records[name] == nil {
		return nil
	}
	data, err := a.read(name, a.size)
	if err != nil {
		return err
	}
	set, err := weights.ReadFrom(bytes.NewReader(data), int64(len(data)), weights.Options{MaxBytes: p.left})
	if err != nil {
		return fmt.Errorf("read the %s: %w", p.folder, err)
	}
	p.saved = make(map[string]weights.Tensor, len(set.Tensors))
	p.tied = map[string][]string{}
	for _, t := range set.Tensors {
		p.saved[t.Name] = t
		p.tied[p.memory(t)] = append(p.tied[p.memory(t)], t.Name)
	}
	return nil
}

// next returns the name of a tensor. PyTorch before 2.8 gives the last of several names for the same memory, so the
// names are used in the order of the state dict.
func (p *payloads) next(name string) string {
	t, ok := p.saved[name]
	if !ok || len(t.Data) == 0 {
		return name
	}
	names := p.tied[p.memory(t)]
	if len(names) < 2 {
		return name
	}
	p.tied[p.memory(t)] = names[1:]
	return names[0]
}

func (p *payloads) loadSaved(name string) (weights.Tensor, error) {
	t, ok := p.saved[name]
	if !ok {
		return t, fmt.Errorf("the tensor is missing from the file that torch.save wrote")
	}
	return t, nil
}
