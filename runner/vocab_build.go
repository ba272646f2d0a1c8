package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/original/vocab"
)

// vocabBuildOptions are the flags of `graft vocab build`.
type vocabBuildOptions struct {
	vocabNetworks        // networks whose layers it contains
	out           string // output folder; required
	legacy        string // stem of the original's pickle files; empty writes none
	size          int    // length of a vector
	seed          uint64 // seed of the vectors
	force         bool   // replace existing files
}

func newVocabBuildCommand() *cobra.Command {
	var o vocabBuildOptions
	command := &cobra.Command{
		Use:   "build NETWORK… --out DIR",
		Short: "Build a vocabulary of all layers of the given networks",
		Long: `build assigns each layer of the networks a token, in the order in which PyTorch registers layers.
Token 0 is reserved. Each token has a vector of normally distributed random numbers. Policies also
need tokens for the layers of grown networks: --deepen adds these layers.

The output is ` + vocab.FileName + `; --legacy also writes the two pickle files that the original
system reads, under the given name.`,
		Example: `  graft vocab build ConvNet2 ConvNet3 --deepen --out vocabs/mine
  graft vocab build net.toml --deepen --out vocabs/mine --legacy models --force`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runVocabBuild(command.OutOrStdout(), args, o)
		},
	}
	o.flags(command)
	flags := command.Flags()
	flags.StringVar(&o.out, "out", "", "output folder, created if missing")
	flags.StringVar(&o.legacy, "legacy", "", "also write `NAME`.ids.pkl and NAME.embeddings.pkl")
	flags.IntVar(&o.size, "size", 16, "length of a vector; policies of the original system need 16")
	flags.Uint64Var(&o.seed, "seed", 1, "random seed of the vectors")
	flags.BoolVar(&o.force, "force", false, "replace an existing vocabulary")
	return command
}

func runVocabBuild(w io.Writer, args []string, o vocabBuildOptions) error {
	switch {
	case o.out == "":
		return failure.Usagef("--out is missing; expected a folder for the vocabulary")
	case o.size < 1 || o.size > 1<<16:
		return failure.Usagef("--size is %d; must be between 1 and 65536", o.size)
	case o.legacy != filepath.Base(o.legacy) && o.legacy != "":
		return failure.Usagef("--legacy %s: expected a name, not a path; --out sets the folder", o.legacy)
	}
	if err := o.mayWrite(); err != nil {
		return err
	}
	networks, err := o.load(args)
	if err != nil {
		return err
	}
	v, err := vocab.Build(networks, o.size, rand.New(rand.NewPCG(o.seed, 0)))
	if err != nil {
		return err
	}
	if err := o.write(v); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s\n", o.path(), sizesOf(v))
	return err
}

func (o vocabBuildOptions) path() string { return filepath.Join(o.out, vocab.FileName) }

// stem returns the path stem of the original's files.
func (o vocabBuildOptions) stem() string { return filepath.Join(o.out, o.legacy) }

// mayWrite refuses to replace existing vocabularies.
func (o vocabBuildOptions) mayWrite() error {
	paths := []string{o.path()}
	if o.legacy != "" {
		paths = append(paths, vocab.PickleFiles(o.stem())...)
	}
	for _, path := range paths {
		if _, err := (files.OS{}).Stat(path); err == nil && !o.force {
			return failure.Usagef("%s already exists, and policies may have learned with it: name another folder, "+
				"or replace it with --force", path)
		}
	}
	return nil
}

func (o vocabBuildOptions) write(v *vocab.Vocabulary) error {
	if err := (files.OS{}).MkdirAll(o.out); err != nil {
		return err
	}
	if o.legacy != "" {
		if err := v.WritePickles(files.OS{}, o.stem()); err != nil {
			return err
		}
	}
	return v.Write(files.OS{}, o.path())
}
