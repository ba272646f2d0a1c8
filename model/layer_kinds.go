package model

import (
	"fmt"
	"strings"
)

// LayerKind describes a kind of layer or container that network files can name.
type LayerKind struct {
	Name      string
	About     string // help text in one line
	Container bool   // a container, which has parts and no notation
	Layers    string // value of the key layers in an example network, whose input is 3 x 16 x 16
}

// LayerKinds lists the kinds of layers that ParseLayer reads, followed by the kinds of containers.
func LayerKinds() (list []LayerKind) {
	for _, k := range kinds {
		layers := strings.Split(k.example, "; ")
		for n, layer := range layers {
			layers[n] = fmt.Sprintf("%q", layer)
		}
		list = append(list, LayerKind{Name: k.name, About: k.about, Layers: "[" + strings.Join(layers, ", ") + "]"})
	}
	for _, k := range formKeys {
		list = append(list, LayerKind{Name: k.name, About: k.about, Container: true,
			Layers: fmt.Sprintf(`[{%s = ["Conv2d(3, 3, 3, padding=1)", "ReLU()"]}]`, k.name)})
	}
	return list
}
