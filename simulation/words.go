package simulation

import (
	"bytes"
	"fmt"
	"strings"

	"graft/decider"
	"graft/files"
	"graft/model"
	"graft/torch/pickle"
	"graft/torch/weights"
	"graft/tracing"
)

// How the names of the original's two files of a vocabulary end.
const (
	wordsSuffix   = ".ids.pkl"
	vectorsSuffix = ".embeddings.pkl"
)

// largestWords is in bytes.
const largestWords = 16 << 20

// Words is a vocabulary of the original: a token for each layer as it is printed, and
// a vector for each token.
type Words struct {
	IDs       map[string]int32
	Embedding decider.Embedding
}

// ReadWords reads a vocabulary by the path of its ids, NAME.ids.pkl; the vectors,
// NAME.embeddings.pkl, lie beside them.
func ReadWords(fsys files.FS, path string) (*Words, error) {
	stem, ok := strings.CutSuffix(path, wordsSuffix)
	if !ok {
		return nil, fmt.Errorf("read vocabulary %s: its name does not end in %s", path, wordsSuffix)
	}
	w := &Words{IDs: map[string]int32{}}
	if err := w.readIDs(fsys, path); err != nil {
		return nil, fmt.Errorf("read vocabulary %s: %w", path, err)
	}
	if err := w.readVectors(fsys, stem+vectorsSuffix); err != nil {
		return nil, fmt.Errorf("read vocabulary %s: %w", path, err)
	}
	return w, nil
}

func (w *Words) readIDs(fsys files.FS, path string) error {
	data, err := files.ReadAll(fsys, path, largestWords)
	if err != nil {
		return err
	}
	value, err := pickle.Read(bytes.NewReader(data), pickle.Options{})
	if err != nil {
		return err
	}
	entries, err := pickle.As[*pickle.Dict](value)
	if err != nil {
		return err
	}
	for key, value := range entries.All() {
		layer, isText := key.(string)
		id, isWhole := value.(int64)
		if !isText || !isWhole || id < 0 || id > 1<<20 {
			return fmt.Errorf("%v has the id %v, where a text has a number", key, value)
		}
		w.IDs[layer] = int32(id)
	}
	return nil
}

func (w *Words) readVectors(fsys files.FS, path string) error {
	set, err := weights.Read(fsys, path, weights.Options{MaxBytes: largestWords})
	if err != nil {
		return err
	}
	if len(set.Tensors) != 1 || len(set.Tensors[0].Shape) != 2 {
		return fmt.Errorf("%s holds no single matrix of vectors", path)
	}
	w.Embedding.Width = int(set.Tensors[0].Shape[1])
	w.Embedding.Values, err = set.Tensors[0].Float32s()
	return err
}

// Tokens are those of a network's layers in the original's order, behind token 0 where
// prefix is set, as the original had it while its first policies learned.
func (w *Words) Tokens(prefix bool) Tokens {
	return func(n *model.Network) ([]int32, error) {
		var tokens []int32
		if prefix {
			tokens = append(tokens, 0)
		}
		for _, layer := range tracing.LegacyLayers(n) {
			id, known := w.IDs[layer]
			if !known {
				return nil, fmt.Errorf("the vocabulary has no layer %s", layer)
			}
			tokens = append(tokens, id)
		}
		return tokens, nil
	}
}
