package lists

import (
	"fmt"
	"strings"

	"graft/config"
	"graft/dataset"
	"graft/model"
	"graft/net2net"
	"graft/net2net/starts"
	"graft/trainer"
)

func deciders() (list []Entry) {
	for _, d := range config.JobDeciders() {
		text := fmt.Sprintf("[adapt]\ndecider = %q\n", d.Name)
		if d.Keys != "" {
			text += d.Keys + "\n"
		}
		list = append(list, Entry{Name: d.Name, About: d.About, TOML: text})
	}
	return list
}

func timings() (list []Entry) {
	for _, k := range trainer.WhenKinds() {
		text := fmt.Sprintf("[adapt]\nwhen = %q\n", k.Name)
		if k.Keys != "" {
			text += k.Keys + "\n"
		}
		list = append(list, Entry{Name: string(k.Name), About: k.About, TOML: text})
	}
	return list
}

// actions returns an example of each operation on the default network of jobs, if one fits it.
func actions() (list []Entry) {
	examples := map[string]string{}
	if n, err := model.Zoo("ConvSmall", model.ZooOptions{}); err == nil {
		proposals, _ := net2net.Proposals(n) // on an error, the example is the syntax
		for _, a := range proposals {
			if _, has := examples[string(a.Kind)]; !has {
				examples[string(a.Kind)] = a.String()
			}
		}
	}
	for _, line := range net2net.Usage() {
		kind, _, _ := strings.Cut(line[0], ":")
		example := examples[kind]
		if example == "" {
			example = kind
		}
		list = append(list, Entry{Name: line[0], About: line[1],
			Command: "graft surgery --model ConvSmall --action " + example})
	}
	return list
}

func unitStarts() (list []Entry) {
	for _, k := range starts.Kinds() {
		name, about := k.Listing()
		list = append(list, Entry{Name: name, About: about,
			TOML: fmt.Sprintf("[adapt]\ndecider = \"script\"\nactions = [\"widen:conv2:48\"]\nnew_units = %q\n",
				name)})
	}
	return list
}

func layers() (list []Entry) {
	for _, k := range model.LayerKinds() {
		of := "layer"
		if k.Container {
			of = "container"
		}
		list = append(list, Entry{Name: k.Name, Of: of, About: k.About,
			TOML: fmt.Sprintf("input = [3, 16, 16]\nlayers = %s\n", k.Layers)})
	}
	return list
}

func networks() (list []Entry) {
	for _, e := range model.ZooEntries() {
		list = append(list, Entry{Name: e.Name, About: e.About, Command: "graft model show " + e.Name})
	}
	return list
}

func datasets() (list []Entry) {
	networks := map[string]string{dataset.KindText: "CharGPT", dataset.KindCSV: "SmallBERT"} // others: images
	for _, name := range dataset.Kinds() {
		text := fmt.Sprintf("[data]\nkind = %q\n", name)
		if network := networks[name]; network != "" {
			text = fmt.Sprintf("[network]\nname = %q\n\n", network) + text
		}
		if name != dataset.KindSynthetic {
			text += fmt.Sprintf("path = \"data/%s\"\n", name)
		}
		list = append(list, Entry{Name: name, About: dataset.About(name), TOML: text})
	}
	return list
}
