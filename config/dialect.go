package config

import (
	"errors"
	"reflect"

	"graft/dataset"
	"graft/internal/decode"
	"graft/model"
	"graft/net2net"
	"graft/simulation/learning"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// These aliases let callers that read a configuration import only package config, not package decode.
type (
	Fault   = decode.Fault   // Fault is an error at a place in a file.
	Faults  = decode.Faults  // Faults is an error that lists all faults of a file.
	Source  = decode.Source  // Source tells where a value comes from.
	Value   = decode.Value   // Value is a key with its value.
	Setting = decode.Setting // Setting is a key with its value, both as text.
)

// dialect describes the rooms' options to package decode.
var dialect = &decode.Dialect{
	Words: map[reflect.Type][]string{
		reflect.TypeFor[trainer.Rule](): textsOf(trainer.Cosine, trainer.Linear, trainer.Exponential, trainer.StepDown,
			trainer.Constant, trainer.WSD),
		reflect.TypeFor[trainer.Restart](): textsOf(trainer.RestartOnDevices, trainer.RestartOnSurgery,
			trainer.NoRestart),
		reflect.TypeFor[trainer.Scaling](): textsOf("", trainer.AdaScale, trainer.SquareRoot, trainer.LinearRate,
			trainer.NoScaling),
		reflect.TypeFor[trainer.Change]():    textsOf(trainer.Up, trainer.Down),
		reflect.TypeFor[trainer.When]():      append([]string{""}, trainer.WhenKinds().Names()...),
		reflect.TypeFor[net2net.Form]():      textsOf(net2net.Forms()...),
		reflect.TypeFor[net2net.Start]():     textsOf(net2net.Starts()...),
		reflect.TypeFor[net2net.SplitRule](): textsOf(net2net.SplitRules()...),
		reflect.TypeFor[net2net.Compat]():    textsOf(net2net.Off, net2net.Original, net2net.WithoutNorm),
		reflect.TypeFor[net2net.Moments]():   textsOf(net2net.AllMoments()...),
		reflect.TypeFor[net2net.Kind]():      textsOf(net2net.Kinds()...),
		reflect.TypeFor[learning.Reward]():   textsOf(learning.Standard, learning.Tangent, learning.Points),
		reflect.TypeFor[torch.Rule]():        torch.RuleNames(),
		reflect.TypeFor[torch.Precision]():   torch.PrecisionNames(),
	},
	FieldWords: map[decode.Field][]string{
		{Of: reflect.TypeFor[dataset.Options](), Name: "Kind"}: dataset.Kinds(),
		{Of: reflect.TypeFor[NetworkOptions](), Name: "Name"}:  zooNames(),
		{Of: reflect.TypeFor[AdaptOptions](), Name: "Decider"}: JobDeciders().Names(),
	},
	Notations: map[reflect.Type]decode.Notation{
		reflect.TypeFor[net2net.Action](): { // JSON formats it differently
			Read:    func(text string) (any, error) { return net2net.ParseAction(text) },
			Pattern: "^(none|[a-z]+:[^:]+(:[0-9]+)?)$",
		},
	},
	Descriptions: descriptions,
	Removed:      removed,
	Item: func(err error) (list string, index int, key, text string, ok bool) {
		var f *clock.ItemFault
		if ok = errors.As(err, &f); ok {
			return f.List, f.Index, f.Key, f.Text, true
		}
		return
	},
}

func textsOf[T ~string](values ...T) []string {
	texts := make([]string, len(values))
	for k, v := range values {
		texts[k] = string(v)
	}
	return texts
}

// zooNames lists the names of networks, and the empty name for a network file.
func zooNames() []string {
	names := []string{""}
	for _, e := range model.ZooEntries() {
		names = append(names, e.Name)
		if e.Alias != "" {
			names = append(names, e.Alias)
		}
	}
	return names
}
