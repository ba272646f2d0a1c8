// Package originaltest generates files in the original system's formats for tests: a table and a vocabulary.
package originaltest

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original/vocab"
	"graft/torch/pickle"
	"graft/torch/pickle/pickletest"
	"graft/torch/weights"
)

// Files holds the paths of a generated table and its vocabulary.
type Files struct {
	Table string // path of data.pkl
	// path of the vocabulary file made-up.ids.pkl; the file of its vectors is in the same folder
	Vocabulary string
}

// actions of ConvNet2: deepen for each block, and none.
const actions = 4

// Write generates a table and a vocabulary. The table has all sequences of ConvNet2 with the given number of decisions.
// The vocabulary has the layers that the original system's surgery produces.
func Write(folder string, decisions int) (Files, error) {
	f := Files{Table: filepath.Join(folder, "made-up", "data.pkl"),
		Vocabulary: filepath.Join(folder, "made-up.ids.pkl")}
	if err := (files.OS{}).MkdirAll(filepath.Dir(f.Table)); err != nil {
		return f, err
	}
	table, err := sequences(decisions)
	if err == nil {
		err = writePickle(f.Table, table)
	}
	if err != nil {
		return f, fmt.Errorf("create a test table: %w", err)
	}
	if err := writeWords(f.Vocabulary, filepath.Join(folder, "made-up.embeddings.pkl")); err != nil {
		return f, fmt.Errorf("create a test vocabulary: %w", err)
	}
	return f, nil
}

func write(path string, data []byte) error {
	return files.WriteAtomic(files.OS{}, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func writePickle(path string, value any) error {
	var b bytes.Buffer
	if err := pickle.Write(&b, value); err != nil {
		return err
	}
	return write(path, b.Bytes())
}

// sequences returns a dictionary from action numbers to times and an accuracy.
func sequences(decisions int) (*pickle.Dict, error) {
	all, err := pickletest.Dict()
	if err != nil {
		return nil, err
	}
	count := 1
	for range decisions {
		count *= actions
	}
	for k := range count {
		key, times := pickle.Tuple{}, &pickle.List{}
		for step, rest := 0, count; step < decisions; step++ {
			// Equal for all sequences with the same prefix.
			times.Items = append(times.Items, 330-10*float64(step)-float64(k/rest)/8)
			rest /= actions
			key = append(key, int64(k/rest%actions))
		}
		// Values unique to each sequence, unordered: multiples of a prime.
		fields, err := pickletest.Dict(pickle.Pair{Key: "timeleft", Value: times}, pickle.Pair{Key: "totaltime",
			Value: int64(400)}, pickle.Pair{Key: "acc", Value: 0.5 + float64(k*37%count)/float64(4*count)})
		if err != nil {
			return nil, err
		}
		if err := all.Set(key, fields); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// layers lists the keys of all possible layers, each once.
func layers() ([]string, error) {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	if err != nil {
		return nil, err
	}
	for k := range actions - 1 {
		if _, err := net2net.Apply(n, net2net.Action{Kind: "deepen", Target: fmt.Sprint(k)},
			net2net.Options{Compat: net2net.Original}); err != nil {
			return nil, err
		}
	}
	list := vocab.LayerKeys(n)
	slices.Sort(list)
	return slices.Compact(list), nil
}

// writeWords writes a token and a vector for each layer.
func writeWords(ids, vectors string) error {
	list, err := layers()
	if err != nil {
		return err
	}
	words, err := pickletest.Dict(pickle.Pair{Key: "none-layer", Value: int64(0)})
	if err != nil {
		return err
	}
	for k, layer := range list {
		if err := words.Set(layer, int64(k+1)); err != nil {
			return err
		}
	}
	const width = 16
	rows := len(list) + 1
	values := make([]float32, rows*width)
	for k := range values {
		values[k] = float32(k*7919%211)/100 - 1
	}
	matrix, err := weights.FromFloat32s("weight", []int64{int64(rows), width}, values)
	if err != nil {
		return err
	}
	if err := writePickle(ids, words); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := weights.WritePTH(&b, &weights.Set{Tensors: []weights.Tensor{matrix}}); err != nil {
		return err
	}
	return write(vectors, b.Bytes())
}
