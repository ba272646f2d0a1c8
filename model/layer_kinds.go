package model

import (
	"fmt"
	"strings"
)

// LayerKind describes a layer or a container of the files of networks.
type LayerKind struct {
	Name      string
	About     string // one line
	Container bool   // has parts, and no notation of its own
	Layers    string // value of the key layers in an example network, for inputs of 3 x 16 x 16
}

// LayerKinds lists the layers with a notation, then the containers.
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
