package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"graft/config"
	"graft/dataset"
	"graft/fleet"
	"graft/internal/files"
	"graft/model"
	"graft/report/runs"
	"graft/runner/lists"
	"graft/runner/traces"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/costs"
)

// shells lists the shells that completion supports.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// newCompletionCommand makes `graft completion`. It replaces cobra's own, which has a command per shell and no
// examples.
func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "Print a shell completion script",
		Long: `completion prints the completion script of a shell. The script completes commands, flags and their
values: networks from the zoo, profiles, datasets, run folders, and keys after --set.

bash needs the package bash-completion. 'make install' installs the scripts of bash, zsh and
fish in the default paths of these shells.`,
		Example: `  source <(graft completion bash)
  graft completion zsh >"${fpath[1]}/_graft"
  graft completion fish >~/.config/fish/completions/graft.fish
  graft completion powershell | Out-String | Invoke-Expression`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: shells,
		RunE: func(command *cobra.Command, args []string) error {
			return runCompletion(command.Root(), command.OutOrStdout(), args[0])
		},
	}
}

func runCompletion(root *cobra.Command, w io.Writer, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenPowerShellCompletionWithDesc(w)
}

// completer returns completions at the cursor.
type completer = cobra.CompletionFunc

// argumentCompleters complete the arguments of a command. Commands without an entry
// complete file names.
var argumentCompleters = map[string]completer{
	"graft train":          ofType("toml"),
	"graft compare":        ofType("toml"),
	"graft learn":          ofType("toml"),
	"graft simulate":       ofType("toml"),
	"graft node simulate":  ofType("toml"),
	"graft node run":       ofType("toml"),
	"graft config check":   ofType("toml"),
	"graft config show":    ofType("toml"),
	"graft config convert": ofType("toml"),
	"graft data fetch":     fixedWords(dataset.Fetchable),
	"graft model show":     networks,
	"graft model import":   ofType("pt2", "onnx"),
	"graft profile":        networks,
	"graft profile show":   fixedWords(profileNames),
	"graft profile check":  ofType("toml"),
	"graft vocab build":    networks,
	"graft weights show":   ofType("pth", "pt", "safetensors"),
	"graft table check":    folders,
	"graft help":           commandNames,
	"graft list":           listNames,
	"graft man":            folders,
	"graft serve":          folders,

	"graft profile predict": fixedWords(hardwareNames),
}

// flagCompleters complete the values of a flag. Flags without an entry complete file names.
var flagCompleters = map[string]completer{
	"set":       keys,
	"sweep":     keys,
	"cases":     ofType("toml"),
	"arms":      fixedWords(config.Arms),
	"folder":    runFolders,
	"model":     networks,
	"network":   networks,
	"table":     folders,
	"dir":       folders,
	"device":    fixedWords(func() []string { return []string{"cpu", "cuda:0"} }),
	"optimizer": fixedWords(torch.RuleNames),
	"engine":    fixedWords(fleet.Engines),
	"at":        fixedWords(func() []string { return []string{string(trainer.AtEnd), string(trainer.AtBest)} }),
	"from":      fixedWords(traceFormats),
	"to":        fixedWords(traces.Writable),
	"arrivals":  fixedWords(func() []string { return []string{"diurnal", "poisson"} }),
}

// complete registers completions for the arguments and flags of every command of a tree.
func complete(root *cobra.Command) {
	walk(root, func(command *cobra.Command) {
		if c := argumentCompleters[command.CommandPath()]; c != nil {
			command.ValidArgsFunction = c
		}
		for name, c := range flagCompleters {
			if command.LocalFlags().Lookup(name) != nil {
				_ = command.RegisterFlagCompletionFunc(name, c) // fails if there is no such flag
			}
		}
	})
}

// fixedWords completes from a list, and also completes files.
func fixedWords(list func() []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveDefault
	}
}

func hardwareNames() []string { return costs.Library().Names() }

func profileNames() []string { return clock.Profiles().Names() }

// ofType completes files by their extensions.
func ofType(extensions ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// networks completes the names of the zoo, and files.
func networks(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, entry := range model.ZooEntries() {
		list = append(list, entry.Name+"\t"+entry.About)
	}
	return list, cobra.ShellCompDirectiveDefault
}

// runFolders completes the run folders below the folder being typed, or below runs, where commands make them.
func runFolders(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	dir := filepath.Dir(begun)
	if begun == "" {
		dir = "runs"
	}
	found, err := runs.Find(files.OS{}, dir)
	if err != nil { // the folder does not exist
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return found, cobra.ShellCompDirectiveDefault
}

// keys completes settable keys, for the file named earlier.
func keys(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, v := range keysOf(command, args) {
		about, _, _ := strings.Cut(v.About, "; ")
		about, _, _ = strings.Cut(about, ". ")
		list = append(list, fmt.Sprintf("%s=\t%s", v.Key, about))
	}
	return list, cobra.ShellCompDirectiveNoSpace
}

// keysOf returns the keys of a kind of file: the kind of the first argument, or else the command's.
func keysOf(command *cobra.Command, args []string) []config.Value {
	kind := config.KindOf(files.OS{}, first(args))
	if usual := map[string]*config.Kind{"simulate": config.SimulationKind,
		"learn": config.TreeLearningKind}[command.Name()]; kind == config.JobKind && usual != nil {
		kind = usual
	}
	return config.Values(kind.New())
}

// listNames completes the kinds of lists.
func listNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, k := range lists.Kinds() {
		names = append(names, k.Name+"\t"+k.About)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// commandNames completes commands below the typed ones.
func commandNames(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	at := command.Root()
	for _, name := range args {
		if at = child(at, name); at == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	var list []string
	for _, c := range at.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, c.Name()+"\t"+c.Short)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
