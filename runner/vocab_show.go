package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/files"
	"graft/internal/words"
	"graft/original/vocab"
	"graft/report/document"
	"graft/runner/app"
)

// vocabReport is the JSON output of `graft vocab show --json`.
type vocabReport struct {
	File       string            `json:"file"`       // file that was read
	Keys       []vocab.Entry     `json:"keys"`       // keys in the order of the file
	Vectors    [][]float32       `json:"vectors"`    // vector of each token, by number
	Collisions []vocab.Collision `json:"collisions"` // tokens that several keys share
	Unused     []int             `json:"unused"`     // tokens without a key
}

func newVocabShowCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show DIR|FILE",
		Short: "Print a vocabulary: tokens, keys and vectors",
		Long: `show prints a line for each key (a layer as PyTorch prints it), ordered by token, with the first
numbers of the token's vector.
A token without a key is printed with a dash.`,
		Example: `  graft vocab show vocabs/mine
  graft vocab show --json models.ids.pkl`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runVocabShow(command.OutOrStdout(), args[0], asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runVocabShow(w io.Writer, path string, asJSON bool) error {
	v, err := vocab.Read(files.OS{}, path)
	if err != nil {
		return app.ReadFault(err)
	}
	report := vocabReport{File: v.Source, Keys: v.Entries, Vectors: v.Vectors,
		Collisions: append([]vocab.Collision{}, v.Collisions()...), Unused: []int{}}
	t := (&document.Table{}).Numbers("", "", "token").Texts("vector", "key")
	for id, vector := range v.Vectors {
		keys := v.Keys(id)
		if len(keys) == 0 {
			report.Unused = append(report.Unused, id)
			keys = []string{"-"}
		}
		for _, key := range keys {
			t.Add(id, vectorText(vector), key)
		}
	}
	if asJSON {
		return document.PrintJSON(w, report)
	}
	p := &document.Printer{W: w}
	p.Table(t)
	p.Line("%s; %s shared, %d without a key", sizesOf(v), words.Plural(len(report.Collisions), "token"),
		len(report.Unused))
	return p.Err
}

// vectorText formats the first numbers of a vector.
func vectorText(vector []float32) string {
	const few = 3
	var numbers []string
	for _, x := range vector[:min(few, len(vector))] {
		numbers = append(numbers, fmt.Sprintf("%+.3f", x))
	}
	if len(vector) > few {
		numbers = append(numbers, "…")
	}
	return strings.Join(numbers, " ")
}
