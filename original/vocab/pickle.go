package vocab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"graft/internal/files"
	"graft/torch/pickle"
	"graft/torch/weights"
)

// The suffixes of the original system's two vocabulary files.
const (
	idsSuffix     = ".ids.pkl"
	vectorsSuffix = ".embeddings.pkl"
)

// PickleFiles returns the names of the two files that WritePickles writes for a stem.
func PickleFiles(stem string) []string { return []string{stem + idsSuffix, stem + vectorsSuffix} }

// vectorsTensor is the only tensor of the original's vectors, from an embedding.
const vectorsTensor = "weight"

func readPickles(fsys files.FS, path string) (*Vocabulary, error) {
	entries, err := readIDs(fsys, path)
	if err != nil {
		return nil, err
	}
	vectors, err := readVectors(fsys, strings.TrimSuffix(path, idsSuffix)+vectorsSuffix)
	if err != nil {
		return nil, err
	}
	v, err := New(entries, vectors)
	if err != nil {
		return nil, err
	}
	v.Source = path
	return v, nil
}

// readIDs reads a dictionary of printed layers and their tokens.
func readIDs(fsys files.FS, path string) ([]Entry, error) {
	data, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, err
	}
	value, err := pickle.Read(bytes.NewReader(data), pickle.Options{})
	if err != nil {
		return nil, fmt.Errorf("read the token IDs: %w", err)
	}
	dict, err := pickle.As[*pickle.Dict](value)
	if err != nil {
		return nil, fmt.Errorf("read the token IDs: %w", err)
	}
	var entries []Entry
	for key, value := range dict.All() {
		text, isText := key.(string)
		id, isWhole := value.(int64)
		if !isText || !isWhole || id != int64(int(id)) {
			return nil, fmt.Errorf("read the token IDs: key %v has ID %v; expected a string with an integer ID", key,
				value)
		}
		entries = append(entries, Entry{Key: text, ID: int(id)})
	}
	return entries, nil
}

// readVectors reads the state of an embedding.
func readVectors(fsys files.FS, path string) ([][]float32, error) {
	set, err := weights.Read(fsys, path, weights.Options{MaxBytes: largestFile})
	if err != nil {
		return nil, err
	}
	t, ok := set.Find(vectorsTensor)
	if !ok || len(t.Shape) != 2 || t.Shape[1] < 1 || t.DType != weights.Float32 {
		return nil, fmt.Errorf("%s has no tensor %s with float32 rows", path, vectorsTensor)
	}
	values, err := t.Float32s()
	if err != nil {
		return nil, err
	}
	vectors, size := make([][]float32, t.Shape[0]), int(t.Shape[1])
	for id := range vectors {
		vectors[id] = values[id*size : (id+1)*size]
	}
	return vectors, nil
}

// WritePickles writes the two pickles of the original system: STEM.ids.pkl and STEM.embeddings.pkl. If it is
// interrupted, the ids file is missing, so the ids of one vocabulary are never combined with the vectors of another.
func (v *Vocabulary) WritePickles(fsys files.FS, stem string) error {
	ids := &pickle.Dict{}
	for _, e := range v.Entries {
		if err := ids.Set(e.Key, e.ID); err != nil {
			return fmt.Errorf("write vocabulary: %w", err)
		}
	}
	var values []float32
	for _, vector := range v.Vectors {
		values = append(values, vector...)
	}
	t, err := weights.FromFloat32s(vectorsTensor, []int64{int64(len(v.Vectors)), int64(v.Size())}, values)
	if err != nil {
		return fmt.Errorf("write vocabulary: %w", err)
	}
	if err := fsys.Remove(stem + idsSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write vocabulary: %w", err)
	}
	err = write(fsys, stem+vectorsSuffix, func(w io.Writer) error {
		return weights.WritePTH(w, &weights.Set{Tensors: []weights.Tensor{t}})
	})
	if err != nil {
		return err
	}
	return write(fsys, stem+idsSuffix, func(w io.Writer) error { return pickle.Write(w, ids) })
}
