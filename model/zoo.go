package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/internal/registry"
	"graft/internal/words"
	"graft/model/graph"
)

// ZooOptions holds the options for the input and output of a network from the zoo.
type ZooOptions struct {
	Classes int   // number of classes; zero means the entry's default
	Input   Shape // shape of one example; nil means the entry's default
	// vocabulary size of a text encoder, including a padding token at the end; zero means the entry's default
	Tokens int
	// makes a text encoder classify each token; false makes it classify the whole text
	Each bool
}

// ZooEntry describes a network in the zoo.
type ZooEntry struct {
	Name    string
	Alias   string // second name; empty means none
	About   string // help text in one line
	Input   Shape  // shape of one example
	Classes int
	build   func(in Shape, classes int) *Container
	graph   func(in Shape, classes int) (*graph.Graph, error) // network that runs as a graph; nil for a tree
	encoder func(ZooOptions) (*graph.Graph, error)            // encoder of text; nil for others
}

// Listing returns the name and a one-line description.
func (e ZooEntry) Listing() (name, about string) { return e.Name, e.About }

// IsGraph reports whether the network is a graph of operators; other networks are trees of layers.
func (e ZooEntry) IsGraph() bool { return e.graph != nil || e.encoder != nil }

// ZooEntries lists the networks in the zoo: first the networks of the original experiments, then common networks.
func ZooEntries() registry.List[ZooEntry] {
	small, large := Shape{3, 32, 32}, Shape{3, 224, 224}
	return registry.List[ZooEntry]{
		{"FeedForwardNet", "FeedForwardNet1", "one linear layer", small, 10, feedForwardNet, nil, nil},
		{"FeedForwardNet2", "", "two linear layers", small, 10, feedForwardNet2, nil, nil},
		{"FeedForwardNet3", "", "three linear layers", small, 10, feedForwardNet3, nil, nil},
		{"ConvNet", "", "three convolutions of 32 channels", small, 10, convNet, nil, nil},
		{"ConvNet2", "", "two convolutions of 32 channels", small, 10, convNet2, nil, nil},
		{"ConvNet3", "", "two convolutions, of 64 and 32 channels", small, 10, convNet3, nil, nil},
		{"LargeConvNet", "", "six convolutions and two linear layers: ConvNet, each block deepened once", small, 10,
			largeConvNet, nil, nil},
		{"BatchNormConvolution", "", "one convolution of 32 channels", small, 10, batchNormConvolution, nil, nil},
		{"ConvSmall", "", "three convolutions of 16, 32 and 32 channels, for a first try", small, 10, convSmall,
			nil, nil},
		{"MLP", "", "three linear layers, of 512 and 256 features and one feature per class", small, 10, mlp,
			nil, nil},
		{"CIFARResNet20", "", "a residual network of 20 layers for small images (He et al. 2016)", small, 10,
			cifarResNet20, nil, nil},
		{"CIFARResNet56", "", "a residual network of 56 layers for small images (He et al. 2016)", small, 10,
			cifarResNet56, nil, nil},
		{"ResNet18", "", "torchvision's resnet18", large, 1000, resNet18, nil, nil},
		{"VGG11BN", "", "torchvision's vgg11_bn", large, 1000, vgg11BN, nil, nil},
		{"MobileNetV2", "", "torchvision's mobilenet_v2", large, 1000, mobileNetV2, nil, nil},
		{"ViTTiny32", "", "a vision transformer of twelve blocks, 192 wide, on squares of 4 pixels", small, 10, nil,
			viTTiny32, nil},
		{"ViTSmall32", "", "a vision transformer of twelve blocks, 384 wide, on squares of 4 pixels", small, 10, nil,
			viTSmall32, nil},
		{"ViTTiny", "", "timm's vit_tiny_patch16_224 (Dosovitskiy et al. 2021)", large, 1000, nil, viTTiny, nil},
		{"ViTSmall", "", "timm's vit_small_patch16_224", large, 1000, nil, viTSmall, nil},
		{"Mixer32", "", "an MLP-Mixer of eight blocks, 128 wide, on squares of 4 pixels (Tolstikhin et al. 2021)",
			small, 10, nil, mixer32, nil},
		{"MixerSmall", "", "timm's mixer_s16_224", large, 1000, nil, mixerSmall, nil},
		{"ConvNeXt32", "", "a ConvNeXt of three stages for small images (Liu et al. 2022)", small, 10, nil,
			convNeXt32, nil},
		{"ConvNeXtTiny", "", "timm's convnext_tiny", large, 1000, nil, convNeXtTiny, nil},
		{"EfficientNetB0", "", "torchvision's efficientnet_b0 (Tan and Le 2019)", large, 1000, nil,
			efficientNetB0, nil},
		{"CharGPT", "", "a small GPT of four blocks, 128 wide, for characters or bytes", Shape{64}, 256, nil,
			charGPT, nil},
		{"GPT2", "", "GPT-2's smallest: twelve blocks, 768 wide (Radford et al. 2019)", Shape{1024}, 50257, nil,
			gpt2, nil},
		{"SmallLLaMA", "", "four blocks with RMS norms, rotary positions, two key heads and SwiGLU, " +
			"like LLaMA (Touvron et al. 2023)", Shape{64}, 256, nil, smallLLaMA, nil},
		{"SmallBERT", "", "an encoder of four blocks, 128 wide, for classes of texts or of their words",
			Shape{64}, 2, nil, nil, smallBERT},
		{"BERTBase", "", "BERT base: twelve blocks, 768 wide, " +
			"without segment types (Devlin et al. 2019)", Shape{512}, 2, nil, nil, bertBase},
	}
}

// Zoo creates a network by name, without tensors.
func Zoo(name string, o ZooOptions) (*Network, error) {
	entries := ZooEntries()
	k := slices.IndexFunc(entries, func(e ZooEntry) bool { return e.Name == name || e.Alias == name && name != "" })
	if k < 0 {
		return nil, unknown(name, entries.Names())
	}
	e := entries[k]
	if o.Classes != 0 {
		e.Classes = o.Classes
	}
	if o.Input != nil {
		e.Input = slices.Clone(o.Input)
	}
	if e.Classes < 1 || len(e.Input) == 0 || slices.Min(e.Input) < 1 {
		return nil, fmt.Errorf("create %s for inputs of %v and %d classes: every size and the number of classes must "+
			"be at least 1", name, e.Input, e.Classes)
	}
	if len(entries[k].Input) == 1 && len(e.Input) != 1 {
		return nil, fmt.Errorf("create %s for inputs of %v: the network reads tokens; use a number of tokens such as "+
			"%v, or a network for images such as ResNet18", name, e.Input, entries[k].Input)
	}
	if e.IsGraph() {
		g, err := e.makeGraph(o)
		if err != nil {
			return nil, fmt.Errorf("create %s for inputs of %v: %w", name, e.Input, err)
		}
		return FromGraph(g)
	}
	n := &Network{Root: e.build(e.Input, e.Classes), Input: e.Input}
	if err := n.Check(); err != nil {
		return nil, fmt.Errorf("create %s for inputs of %v: %w", name, e.Input, err)
	}
	return n, nil
}

func (e ZooEntry) makeGraph(o ZooOptions) (*graph.Graph, error) {
	if e.graph != nil {
		return e.graph(e.Input, e.Classes)
	}
	o.Input, o.Classes = e.Input, e.Classes
	return e.encoder(o)
}

func unknown(name string, names []string) error {
	hint := ""
	if guess := words.Nearest(name, names); guess != "" {
		hint = "did you mean " + guess + "? "
	}
	return fmt.Errorf("unknown network %q; %sthe zoo has %s", name, hint, strings.Join(names, ", "))
}

// chain makes a container that runs its parts in order. A part without a module is a step with that name.
func chain(class string, parts ...Child) *Container {
	c := &Container{Class: class}
	var order []string
	for _, part := range parts {
		order = append(order, part.Name)
		if part.Module != nil {
			c.Children = append(c.Children, part)
		}
	}
	if len(c.Children) < len(parts) {
		c.Flow.Body = order
	}
	return c
}

// flattened makes the step from images to features.
func flattened() Child { return Child{Name: FlattenStep} }

func part(name string, l Layer) Child { return Child{name, &Leaf{Layer: l}} }

// sequence makes PyTorch's Sequential, whose parts are named by numbers.
func sequence(modules ...Module) *Container {
	c := &Container{}
	for k, m := range modules {
		c.Children = append(c.Children, Child{strconv.Itoa(k), m})
	}
	return c
}

// leaves wraps layers for a sequence.
func leaves(layers ...Layer) []Module {
	modules := make([]Module, len(layers))
	for k, l := range layers {
		modules[k] = &Leaf{Layer: l}
	}
	return modules
}
