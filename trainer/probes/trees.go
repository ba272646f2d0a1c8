package probes

import (
	"strconv"

	"graft/model"
	"graft/torch"
)

// sketch is a network in the making.
type sketch struct {
	*drawer
	root  *model.Container
	shape model.Shape
	least int // least channels of a layer; zero leaves the choice to the family
	most  int // most channels of a layer
	rows  int // number of examples in the batch
}

// tree draws a probe of a family as a tree of layers.
func tree(family func(*sketch)) func(*drawer) (Probe, error) {
	return func(d *drawer) (Probe, error) { return drawTree(d, family), nil }
}

func drawTree(d *drawer, family func(*sketch)) Probe {
	side, least, most, rows := pick(d, 8, 16, 28, 32, 32, 48), 0, d.size(8, 1024), d.size(4, 256)
	switch {
	case d.chance(0.25): // a step of less than a millisecond
		side, most, rows = pick(d, 8, 16, 28), d.size(4, 32), d.size(2, 64)
	case d.chance(0.3): // the last stages of a larger network
		side, most, rows = pick(d, 1, 2, 2, 4, 4, 7), d.size(128, 1536), d.size(2, 64)
		least = most / 4
	}
	s := &sketch{drawer: d, root: &model.Container{Class: "Probe"}, least: least, most: most, rows: rows}
	s.shape = model.Shape{pick(d, 1, 3, 3), side, side}
	n := &model.Network{Root: s.root, Input: s.shape}
	family(s)
	return Probe{n, s.rows}
}

// width draws the channels of a layer. Larger images have fewer channels.
func (s *sketch) width(least int) int {
	most := s.most
	if len(s.shape) == 3 {
		most = min(most, max(32, 4096/s.shape[1]))
	}
	least = max(least, min(s.least, most))
	return s.channels(least, max(least, most))
}

// put adds layers after the others.
func (s *sketch) put(layers ...model.Layer) {
	for _, l := range layers {
		s.add(&model.Leaf{Layer: l})
		if out, err := l.Infer(s.shape); err == nil {
			s.shape = out
		}
	}
}

func (s *sketch) add(m model.Module) {
	s.root.Children = append(s.root.Children, model.Child{Name: strconv.Itoa(len(s.root.Children)), Module: m})
}

// Reference returns a network that is measured between others, to notice that other programs slow the machine down. A
// step takes a few milliseconds.
func Reference() Probe {
	s := &sketch{root: &model.Container{Class: "Reference"}, shape: model.Shape{3, 32, 32}}
	n := &model.Network{Root: s.root, Input: s.shape}
	s.put(convolution(3, 32, 3, 1, 1), model.NewBatchNorm2d(32), model.Activate(torch.ReLU),
		convolution(32, 32, 3, 1, 1), model.Activate(torch.ReLU), model.NewAvgPool2d(model.One(4)), model.Flatten{},
		model.NewLinear(2048, 64))
	return Probe{n, 8}
}

// convolution returns a convolution that keeps the size of images, divided by the stride.
func convolution(in, out, kernel, stride, groups int) model.Conv2d {
	c := model.NewConv2d(in, out, kernel)
	c.Padding, c.Stride, c.Groups = model.Both(kernel/2), model.Both(stride), groups
	return c
}

// activation draws an activation.
func (s *sketch) activation() model.Layer {
	return model.Activate(pick(s.drawer, torch.ReLU, torch.ReLU, torch.ReLU, torch.ReLU, torch.GELU, torch.SiLU,
		torch.ReLU6, torch.Tanh))
}

// kernel draws the size of a kernel that is at most one pixel larger than the image.
func (s *sketch) kernel(of ...int) int {
	n := pick(s.drawer, of...)
	for n > s.shape[1]+1 && n > 1 {
		n -= 2
	}
	return max(n, 1)
}

// head ends a network of images.
func (s *sketch) head() {
	classes := s.size(2, 200)
	if s.chance(0.6) {
		s.put(model.AdaptiveAvgPool2d{Size: model.Both(1)})
	}
	s.put(model.Flatten{})
	if s.chance(0.4) {
		hidden := s.width(16)
		s.put(model.NewLinear(s.shape[0], hidden), s.activation())
	}
	s.put(model.NewLinear(s.shape[0], classes))
}

// convolutional has blocks of a convolution, usually a norm, an activation and sometimes a pool. Some networks keep the
// size of their images until the last pool.
func convolutional(s *sketch) {
	shrinks := s.chance(0.8)
	for range 1 + s.IntN(5) {
		out, stride := s.width(4), 1
		if shrinks && s.shape[1] >= 8 && s.chance(0.2) {
			stride = 2
		}
		c := convolution(s.shape[0], out, s.kernel(1, 3, 3, 3, 5, 7), stride, 1)
		if s.chance(0.3) && s.shape[1] >= 2*c.Kernel.H {
			c.Padding = model.Both(0)
		}
		normed := s.chance(0.7)
		c.Bias = !normed || s.chance(0.5)
		s.put(c)
		if normed {
			s.put(model.NewBatchNorm2d(out))
		}
		if s.chance(0.9) {
			s.put(s.activation())
		}
		if shrinks && s.shape[1] >= 4 && s.chance(0.4) {
			s.put(s.pool())
		}
	}
	s.head()
}

func (s *sketch) pool() model.Layer {
	switch s.IntN(4) {
	case 0, 1:
		return model.NewAvgPool2d(model.One(pick(s.drawer, 2, 2, 2, 4)))
	case 2:
		return model.NewMaxPool2d(model.One(2))
	}
	return model.MaxPool2d{Kernel: model.One(3), Stride: model.One(2), Padding: model.One(1)}
}

// residual has stages of blocks with two convolutions and a shortcut, as in He et al. (2016).
func residual(s *sketch) {
	width := s.width(8)
	s.put(convolution(s.shape[0], width, 3, 1, 1), model.NewBatchNorm2d(width), model.Activate(torch.ReLU))
	for stage := range 1 + s.IntN(3) {
		out := width
		if stage > 0 {
			out = min(max(512, width), 2*width)
		}
		for block := range 1 + s.IntN(2) {
			stride := 1
			if stage > 0 && block == 0 && s.shape[1] >= 8 {
				stride = 2
			}
			s.block(out, stride)
		}
		width = out
	}
	s.put(model.AdaptiveAvgPool2d{Size: model.Both(1)}, model.Flatten{}, model.NewLinear(s.shape[0], s.size(2, 100)))
}

// block adds a residual block.
func (s *sketch) block(out, stride int) {
	in, shape := s.shape[0], s.shape
	inner := &sketch{drawer: s.drawer, root: &model.Container{Class: "Body"}, shape: shape}
	plain := func(in, out, kernel, stride int) model.Conv2d {
		c := convolution(in, out, kernel, stride, 1)
		c.Bias = false
		return c
	}
	inner.put(plain(in, out, 3, stride), model.NewBatchNorm2d(out), model.Activate(torch.ReLU), plain(out, out, 3, 1),
		model.NewBatchNorm2d(out))
	c := &model.Container{Class: "Block", Children: []model.Child{{Name: "body", Module: inner.root},
		{Name: "relu", Module: &model.Leaf{Layer: model.Activate(torch.ReLU)}}},
		Flow: model.Flow{Join: model.Sum, Body: []string{"body"}, Then: []string{"relu"}}}
	if in != out || stride > 1 {
		short := &sketch{drawer: s.drawer, root: &model.Container{Class: "Shortcut"}, shape: shape}
		short.put(plain(in, out, 1, stride), model.NewBatchNorm2d(out))
		c.Children = append(c.Children, model.Child{Name: "downsample", Module: short.root})
		c.Flow.Shortcut = []string{"downsample"}
	}
	s.add(c)
	s.shape = inner.shape
}

// separable has depthwise convolutions between convolutions of one tap, as in Howard et al. (MobileNets, 2017).
func separable(s *sketch) {
	width := s.width(8)
	s.put(convolution(s.shape[0], width, 3, 1, 1), model.NewBatchNorm2d(width), model.Activate(torch.ReLU6))
	for range 1 + s.IntN(4) {
		stride, kernel := 1, s.kernel(3, 3, 5, 7)
		if s.shape[1] >= 8 && s.chance(0.4) {
			stride = 2
		}
		in, out := s.shape[0], s.width(8)
		for _, c := range []model.Conv2d{convolution(in, in, kernel, stride, in), convolution(in, out, 1, 1, 1)} {
			c.Bias = false
			s.put(c, model.NewBatchNorm2d(c.Out), model.Activate(pick(s.drawer, torch.ReLU, torch.ReLU6, torch.SiLU)))
		}
	}
	s.put(model.AdaptiveAvgPool2d{Size: model.Both(1)}, model.Flatten{}, model.NewLinear(s.shape[0], s.size(2, 100)))
}

// inverted has blocks of a depthwise convolution, a norm and two convolutions of one tap, as in Liu et al. (A ConvNet
// for the 2020s, 2022).
func inverted(s *sketch) {
	width := s.width(16) &^ 7
	s.put(convolution(s.shape[0], width, 3, pick(s.drawer, 1, 2, 4), 1))
	for range 1 + s.IntN(3) {
		inner := &sketch{drawer: s.drawer, root: &model.Container{Class: "Body"}, shape: s.shape}
		hidden := width * pick(s.drawer, 2, 3, 4)
		norm := model.GroupNorm{Groups: pick(s.drawer, 1, 4, 8), Features: width, Eps: 1e-5, Affine: true}
		inner.put(convolution(width, width, s.kernel(3, 5, 7), 1, width), norm, convolution(width, hidden, 1, 1, 1),
			s.activation(), convolution(hidden, width, 1, 1, 1))
		s.add(&model.Container{Class: "Block", Children: []model.Child{{Name: "body", Module: inner.root}},
			Flow: model.Flow{Join: model.Sum, Body: []string{"body"}}})
	}
	s.put(model.AdaptiveAvgPool2d{Size: model.Both(1)}, model.Flatten{}, model.NewLinear(s.shape[0], s.size(2, 100)))
}

// perceptron has linear layers. Some networks have wider ones than other families, and usual sizes of batches.
func perceptron(s *sketch) {
	if s.chance(0.4) {
		s.most, s.rows = s.size(512, 4096), s.size(16, 512)
		s.least = s.most / 8
	}
	s.put(model.Flatten{})
	for range 1 + s.IntN(4) {
		s.put(model.NewLinear(s.shape[0], s.width(16)))
		if s.chance(0.3) {
			s.put(model.LayerNorm{Sizes: []int{s.shape[0]}, Eps: 1e-5, Affine: true})
		}
		s.put(s.activation())
		if s.chance(0.2) {
			s.put(model.Dropout{P: 0.1})
		}
	}
	s.put(model.NewLinear(s.shape[0], s.size(2, 200)))
}
