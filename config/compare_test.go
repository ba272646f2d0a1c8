package config

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
)

// A network's outputs must match the classes of the data. network.classes replaces the head of a network from a file.
func TestNetworksFitTheirData(t *testing.T) {
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "n.toml")
	require.NoError(t, WriteNetwork(files.OS{}, path, n))
	own := "network.file=" + path
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"its own classes": {[]string{own}, ""},
		"other classes": {[]string{own, "data.synthetic.classes=4"},
			"the network's output is 10, but synthetic has 4 classes; set network.classes to 4, or use other data"},
		"another head": {[]string{own, "data.synthetic.classes=4", "network.classes=4"}, ""},
		"weights that fix the head": {[]string{own, "data.synthetic.classes=4", "network.weights=w.pth"},
			"synthetic has 4 classes; set data.synthetic.classes to 10, or use a network with 4 outputs"},
		"weights that fix the head, with other data": {[]string{own, "data.kind=cifar100", "data.path=none",
			"network.weights=w.pth"}, "cifar100 has 100 classes; use a network with 100 outputs, or other data"},
		"the wrong head": {[]string{own, "network.classes=5"},
			"--set network.classes=5: the network's output is 5, but synthetic has 10 classes"},
		"other images": {[]string{own, "data.synthetic.size=16"},
			"the network expects input 3x32x32, but the images of synthetic have shape 3x16x16"},
		"of the zoo": {[]string{"data.synthetic.classes=4"}, ""},
		"too small images": {[]string{"network.name=VGG11BN", "data.synthetic.size=16"},
			"the window of MaxPool2d"},
		"data that nothing is of":  {[]string{own, "data.kind=folder", "data.path=none"}, ""},
		"a negative number":        {[]string{"network.classes=-1"}, "classes is -1"},
		"a zoo network of its own": {[]string{"network.classes=7"}, "set network.classes to 10"},
		"CIFAR-100 for ten of a file": {[]string{own, "data.kind=cifar100", "data.path=none"},
			"cifar100 has 100 classes; set network.classes to 100"},
	} {
		_, err := ReadJob(files.OS{}, "", c.set)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
	}
	was, now := NewJob(), NewJob()
	was.EnsureDefaults()
	now.EnsureDefaults()
	now.Network.Classes = 10
	require.NotEqual(t, was.Digest(), now.Digest(), "a digest has the key where it is given")
}
