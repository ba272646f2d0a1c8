package policyfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/original"
	"graft/original/learn"
	"graft/original/vocab"
	"graft/simulation/tables"
	"graft/torch/weights"
)

// Check reads the files that the configuration names, and checks that they match each other.
func (l *File) Check(fsys files.FS, r *decode.Reading) {
	if fsys == nil {
		return
	}
	var n *model.Network
	folder := isFolder(fsys, l.Table.File)
	r.Attempt("table.file", folder, func() (err error) {
		if l.table, n, _, err = tables.ReadFolder(fsys, l.Table.File, l.networks); err == nil {
			err = l.table.Complete()
		}
		return err
	})
	if folder {
		l.agree(fsys, r, n)
	}
	r.Attempt("table.network", !folder && l.Table.Network != "", func() (err error) {
		n, err = l.networks(fsys, l.Table.Network)
		return err
	})
	r.Attempt("table.file", !folder && l.Table.File != "" && n != nil, func() (err error) {
		l.table, err = l.readTable(fsys, n)
		return err
	})
	r.Attempt("table.vocabulary", l.Table.Vocabulary != "", func() (err error) {
		l.words, err = vocab.Read(fsys, l.Table.Vocabulary)
		return err
	})
	r.Attempt("policy.embedding", l.words != nil && l.Policy.Embedding != 0, func() error {
		if has := l.words.Size(); has != l.Policy.Embedding {
			return fmt.Errorf("embedding is %d, but the vectors of the vocabulary have %d values",
				l.Policy.Embedding, has)
		}
		return nil
	})
	r.Attempt("table.network", n != nil && l.table != nil && l.words != nil, func() (err error) {
		l.tree, err = learn.NewPolicyTree(l.table, n,
			learn.TreeOptions{Surgery: net2net.Options{Compat: l.Table.Compat},
				Tokens: learn.VocabularyTokens(l.words, l.Table.Prefix), Discard: l.Table.DiscardDraws})
		return err
	})
	r.Attempt("policy.weights", l.Policy.Weights != "", func() (err error) {
		l.first, err = weights.Read(fsys, l.Policy.Weights, weights.Options{})
		return err
	})
}

func isFolder(fsys files.FS, path string) bool {
	if path == "" {
		return false
	}
	info, err := fsys.Stat(path)
	return err == nil && info.IsDir()
}

// agree takes the network from a table that is a folder. If network and actions are also given, they must match the
// table's.
func (l *File) agree(fsys files.FS, r *decode.Reading, n *model.Network) {
	if _, given := r.Given["table.network"]; !given && n != nil {
		l.Table.Network = l.table.Network
		r.Given["table.network"] = decode.Source{File: l.Table.File}
	}
	r.Attempt("table.network", n != nil, func() error {
		mine, err := l.networks(fsys, l.Table.Network)
		if err == nil && net2net.Fingerprint(mine) != net2net.Fingerprint(n) {
			err = fmt.Errorf("network is %s, but the table's sequences begin with %s; remove the key network",
				l.Table.Network, l.table.Network)
		}
		return err
	})
	r.Attempt("table.actions", n != nil && len(l.Table.Actions) > 0, func() error {
		if mine := actionTexts(l.Table.Actions); !slices.Equal(mine, l.table.Actions) {
			return fmt.Errorf("actions is %s, but the table has the actions %s; remove the key actions",
				strings.Join(mine, ", "), strings.Join(l.table.Actions, ", "))
		}
		return nil
	})
}

func actionTexts(actions []net2net.Action) []string {
	var texts []string
	for _, a := range actions {
		texts = append(texts, a.String())
	}
	return texts
}

// readTable reads a table of the original's. Its actions are the configured ones, or deepen for each of the network's
// marked blocks, then none.
func (l *File) readTable(fsys files.FS, n *model.Network) (*tables.Table, error) {
	s := tables.Scenario{Name: tableName(l.Table.File), Network: l.Table.Network, Actions: actionTexts(l.Table.Actions)}
	if len(s.Actions) == 0 {
		for k := range net2net.OriginalBlocks(n) {
			s.Actions = append(s.Actions, fmt.Sprintf("deepen:%d", k))
		}
		s.Actions = append(s.Actions, net2net.Action{}.String())
	}
	file, err := fsys.Open(l.Table.File)
	if err != nil {
		return nil, err
	}
	t, err := original.ReadTable(file, s, l.Run.Seed)
	return t, errors.Join(err, file.Close())
}

// tableName returns the name of a table's folder, because the files of all tables have the same name.
func tableName(path string) string {
	folder := filepath.Base(filepath.Dir(path))
	if folder == "." || folder == string(filepath.Separator) {
		return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return folder
}

// Summary returns a one-line description of the training: the table, the network, the learning rule and the number of
// episodes.
func (l *File) Summary() (string, error) {
	table, tree := l.LoadedTable()
	return fmt.Sprintf("trains a policy on %s of %s, %s of %s, rule %s, %s",
		words.Plural(len(table.Records), "sequence"), table.Name, words.Plural(len(tree.States), "state"),
		l.Table.Network, l.Learn.Rule, words.Plural(l.Learn.Episodes, "episode")), nil
}
