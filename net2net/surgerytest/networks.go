package surgerytest

import (
	"fmt"

	"pgregory.net/rapid"

	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
)

// builder draws a network part by part. Sizes are small and grow with the drawn numbers, so a failing network shrinks
// to few and small layers.
type builder struct {
	t     *rapid.T
	shape model.Shape
}

// Network generates a random network, without weights, with layers and containers of every kind.
func Network(t *rapid.T) *model.Network {
	b := &builder{t: t, shape: model.Shape{b3(t, "channels")}}
	images := rapid.Bool().Draw(t, "images")
	if images {
		b.shape = append(b.shape, rapid.IntRange(4, 8).Draw(t, "height"), rapid.IntRange(4, 8).Draw(t, "width"))
	} else {
		b.shape[0] += 3
	}
	n := &model.Network{Input: b.shape, Root: &model.Container{Class: "Drawn"}}
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		b.part(n.Root)
	}
	b.head(n.Root)
	return n
}

func b3(t *rapid.T, what string) int { return rapid.IntRange(1, 3).Draw(t, what) }

func (b *builder) choice(what string, n int) int { return rapid.IntRange(0, n-1).Draw(b.t, what) }

func (b *builder) add(c *model.Container, m model.Module) {
	c.Children = append(c.Children, model.Child{Name: fmt.Sprint(len(c.Children)), Module: m})
}

// layer adds a layer if its input fits.
func (b *builder) layer(c *model.Container, l model.Layer) bool {
	out, err := l.Infer(b.shape)
	if err != nil {
		return false
	}
	b.shape = out
	b.add(c, &model.Leaf{Layer: l})
	return true
}

// part adds a block, a pool, a residual, a concatenation or a plain layer.
func (b *builder) part(c *model.Container) {
	if len(b.shape) == 1 {
		b.block(c)
		return
	}
	switch b.choice("part", 8) {
	case 0, 1, 2:
		b.block(c)
	case 3:
		b.residual(c)
	case 4:
		b.branches(c)
	case 5:
		b.pool(c)
	case 6:
		b.layer(c, model.Dropout{})
		b.norm(c)
	default:
		b.layer(c, model.Identity{})
		b.activation(c)
	}
}

// block adds a convolution or linear layer, a normalisation and an activation,
// marked by hand or left to be found.
func (b *builder) block(c *model.Container) {
	into := c
	if rapid.Bool().Draw(b.t, "marked") {
		layers := &model.Container{}
		into = layers
		b.add(c, &model.Container{Mark: model.Original, Children: []model.Child{{Name: "layers", Module: layers}}})
	}
	b.main(into)
	if b.choice("normed", 3) > 0 {
		b.norm(into)
	}
	if b.choice("activated", 4) > 0 {
		b.activation(into)
	}
}

func (b *builder) main(c *model.Container) {
	if len(b.shape) == 1 {
		b.layer(c, model.Linear{In: b.shape[0], Out: rapid.IntRange(2, 8).Draw(b.t, "features"),
			Bias: rapid.Bool().Draw(b.t, "bias")})
		return
	}
	b.layer(c, b.conv(false))
}

// conv draws a convolution. With keep, it keeps the shape and fits into a residual.
func (b *builder) conv(keep bool) model.Conv2d {
	channels := b.shape[0]
	conv := model.NewConv2d(channels, rapid.IntRange(2, 6).Draw(b.t, "out"), 1)
	conv.Bias = rapid.Bool().Draw(b.t, "bias")
	conv.Kernel = model.Pair{H: 1 + 2*b.choice("kernel", 2), W: 1 + 2*b.choice("kernel", 2)}
	conv.Padding = model.Pair{H: conv.Kernel.H / 2, W: conv.Kernel.W / 2}
	switch b.choice("groups", 4) {
	case 0: // depthwise, possibly with several outputs per channel
		conv.Groups, conv.Out = channels, channels*(1+b.choice("multiplier", 2))
	case 1:
		if channels%2 == 0 {
			conv.Groups, conv.Out = 2, 2*b3(b.t, "half")
		}
	}
	if keep {
		conv.Out = channels
		return conv
	}
	switch b.choice("shape", 5) {
	case 0:
		conv.Stride = model.Pair{H: 2, W: 1}
	case 1:
		conv.Dilation, conv.Padding = model.Pair{H: 2, W: 1}, model.Pair{H: conv.Kernel.H - 1, W: conv.Kernel.W / 2}
	case 2:
		conv.Kernel, conv.Padding = model.Both(2), model.Both(1)
	}
	return conv
}

// leastNormed is the minimum number of values normalised together. Two values only give a sign, which rounding can
// flip.
const leastNormed = 4

// biased gives the last layer a bias if it can have one. Normalising by example is discontinuous at zero. Without a
// bias, a layer maps every example that ReLU has zeroed to zero, and rounding can change the function there.
func biased(c *model.Container) bool {
	if len(c.Children) == 0 {
		return false
	}
	leaf, ok := c.Children[len(c.Children)-1].Module.(*model.Leaf)
	if !ok {
		return false
	}
	switch l := leaf.Layer.(type) {
	case model.Conv2d:
		l.Bias = true
		leaf.Layer = l
		return true
	case model.Linear:
		l.Bias = true
		leaf.Layer = l
		return true
	}
	return false
}

func (b *builder) norm(c *model.Container) {
	channels := b.shape[0]
	kind := b.choice("norm", 6)
	if kind < 2 && !biased(c) {
		kind = 2
	}
	switch kind {
	case 0:
		if b.shape.Count() >= leastNormed {
			b.layer(c, model.LayerNorm{Sizes: b.shape, Eps: 1e-5, Affine: rapid.Bool().Draw(b.t, "affine")})
		}
	case 1:
		groups := 1
		if channels%2 == 0 {
			groups = 2
		}
		if b.shape.Count() >= leastNormed*groups {
			b.layer(c, modeltest.GroupNorm(groups, channels))
		}
	case 2:
		b.layer(c, model.BatchNorm{Features: channels, Flat: len(b.shape) == 1, Eps: 1e-5, Momentum: 0.1, Track: true})
	default:
		n := model.NewBatchNorm2d(channels)
		n.Flat = len(b.shape) == 1
		b.layer(c, n)
	}
}

func (b *builder) activation(c *model.Container) {
	kinds := []torch.Activation{torch.ReLU, torch.ReLU, torch.ReLU6, torch.LeakyReLU, torch.Sigmoid, torch.Tanh,
		torch.GELU, torch.SiLU, torch.Hardswish, torch.ELU}
	b.layer(c, model.Activate(kinds[b.choice("activation", len(kinds))]))
}

func (b *builder) pool(c *model.Container) {
	switch b.choice("pool", 3) {
	case 0:
		b.layer(c, model.NewAvgPool2d(model.Both(2)))
	case 1:
		b.layer(c, model.MaxPool2d{Kernel: model.One(3), Stride: model.One(2), Padding: model.One(1)})
	default:
		b.layer(c, model.AdaptiveAvgPool2d{Size: model.Both(3)})
	}
}

// residual adds a body that keeps the shape and a shortcut; the shortcut's activation may also run on the sum.
func (b *builder) residual(c *model.Container) {
	r := &model.Container{Flow: model.Flow{Join: model.Sum}}
	from := b.shape
	b.layer(r, b.conv(true))
	b.norm(r)
	r.Children = append(r.Children, model.Child{Name: "relu", Module: &model.Leaf{Layer: model.Activate(torch.ReLU)}})
	b.layer(r, model.NewConv2d(b.shape[0], from[0], 1))
	if rapid.Bool().Draw(b.t, "projection") {
		r.Children = append(r.Children,
			model.Child{Name: "shortcut", Module: &model.Leaf{Layer: model.NewConv2d(from[0], from[0], 1)}})
		r.Flow.Shortcut = []string{"shortcut"}
	}
	for _, child := range r.Children {
		if child.Name != "shortcut" {
			r.Flow.Body = append(r.Flow.Body, child.Name)
		}
	}
	r.Flow.Then = []string{"relu"}
	b.add(c, r)
}

// branches adds a concatenation of convolutions and the input itself.
func (b *builder) branches(c *model.Container) {
	cat := &model.Container{Flow: model.Flow{Join: model.Cat}}
	from, sum := b.shape, 0
	for range 1 + b3(b.t, "branches") {
		b.shape = from
		if b.choice("through", 4) == 0 {
			b.add(cat, &model.Leaf{Layer: model.Identity{}})
		} else {
			branch := &model.Container{}
			b.layer(branch, model.NewConv2d(from[0], rapid.IntRange(1, 4).Draw(b.t, "out"), 1))
			b.norm(branch)
			b.add(cat, branch)
		}
		sum += b.shape[0]
	}
	b.shape = append(model.Shape{sum}, from[1:]...)
	b.add(c, cat)
}

// head adds layers that end in logits.
func (b *builder) head(c *model.Container) {
	if len(b.shape) == 3 {
		if rapid.Bool().Draw(b.t, "pooled") {
			b.layer(c, model.AdaptiveAvgPool2d{Size: model.Both(1)})
		}
		b.layer(c, model.Flatten{})
	}
	if rapid.Bool().Draw(b.t, "hidden") {
		b.block(c)
	}
	b.layer(c, model.NewLinear(b.shape[0], Classes))
}

// Classes is the number of logits of random networks.
const Classes = 3
