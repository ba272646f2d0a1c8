package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/files"
	"graft/internal/words"
	"graft/model"
	"graft/original/vocab"
	"graft/runner/app"
	"graft/runner/describe"
)

// newVocabCommand makes `graft vocab`. It does not need LibTorch.
func newVocabCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "vocab",
		Short: "Build, show and check layer vocabularies for policies of the original system",
		Long: `vocab builds, shows and checks vocabularies. A vocabulary maps each layer, as PyTorch prints it,
to a token, and each token to a random vector that is never trained. vocab also reads
vocabularies of the original system, which are pairs of pickle files, without executing any code
from them.`,
		Example: `  graft vocab build ConvNet2 ConvNet3 --deepen --out vocabs/mine
  graft vocab show vocabs/mine
  graft vocab check vocabs/mine ConvNet2`,
	}, newVocabBuildCommand(), newVocabShowCommand(), newVocabCheckCommand())
}

// vocabNetworks holds the options of the networks in an argument list.
type vocabNetworks struct {
	input   string // shape of one example; empty means each network's own
	classes int    // classes of networks from the zoo; zero means their own
	deepen  bool   // also include the networks that deepening a block produces
}

func (o *vocabNetworks) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.input, "input", "", "shape of one example, such as 3x32x32 (default: each network's own)")
	flags.IntVar(&o.classes, "classes", 0, "number of classes, for networks from the zoo (default: each network's own)")
	flags.BoolVar(&o.deepen, "deepen", false,
		"include the layers that deepening adds, in graft's form and in the original system's form")
}

// load makes the networks, each followed by its deepened variants.
func (o *vocabNetworks) load(args []string) ([]*model.Network, error) {
	input, err := app.ParseInput(o.input)
	if err != nil {
		return nil, err
	}
	var all []*model.Network
	for _, arg := range args {
		n, err := app.LoadNetwork(files.OS{}, arg, input, o.classes)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if !o.deepen {
			continue
		}
		grown, err := describe.Deepened(n)
		if err != nil {
			return nil, err
		}
		all = append(all, grown...)
	}
	return all, nil
}

// sizesOf describes a vocabulary in one line.
func sizesOf(v *vocab.Vocabulary) string {
	used := map[int]bool{}
	for _, e := range v.Entries {
		used[e.ID] = true
	}
	return fmt.Sprintf("%s on %s, %s of %s", words.Plural(len(v.Entries), "key"), words.Plural(len(used),
		"token"), words.Plural(len(v.Vectors), "vector"), words.Plural(v.Size(), "number"))
}

func newVocabCheckCommand() *cobra.Command {
	var o vocabNetworks
	command := &cobra.Command{
		Use:   "check DIR|FILE [NETWORK…]",
		Short: "Report layers that a vocabulary lacks or cannot distinguish",
		Long: `check reads a vocabulary and lists its faults, with their locations: tokens that several different
layers share, and layers of the given networks that have no token. The exit code is 1 if there are
faults, and 5 if files are damaged, for example if a token has no vector.`,
		Example: `  graft vocab check vocabs/mine
  graft vocab check vocabs/mine ConvNet2 net.toml --deepen`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runVocabCheck(command.OutOrStdout(), args[0], args[1:], o)
		},
	}
	o.flags(command)
	return command
}

func runVocabCheck(w io.Writer, path string, args []string, o vocabNetworks) error {
	networks, err := o.load(args)
	if err != nil {
		return err
	}
	v, err := vocab.Read(files.OS{}, path)
	if err != nil {
		return app.ReadFault(err)
	}
	faults := []error{}
	for _, c := range v.Collisions() {
		faults = append(faults, errors.New(c.String()))
	}
	seen := map[vocab.Layer]bool{}
	for _, n := range networks {
		for _, l := range v.Unknown(n) {
			if !seen[l] {
				seen[l] = true
				faults = append(faults, fmt.Errorf("the vocabulary has no token for the layer %s at %s in %s", l.Key,
					l.Path, n.Name()))
			}
		}
	}
	if _, err := fmt.Fprintf(w, "%s: %s; %s\n", v.Source, sizesOf(v),
		words.Plural(len(faults), "fault")); err != nil || len(faults) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w\nkeep this vocabulary for policies that were trained with it\n"+
		"for new policies, build a vocabulary without faults with 'graft vocab build'", v.Source,
		errors.Join(faults...))
}
