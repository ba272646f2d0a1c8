package dataset

import (
	"path/filepath"
	"slices"

	"graft/files"
)

// Declared returns the shape of the images and the number of classes, as far as these are known
// without reading images: the shape is empty and the number zero where they are not.
func Declared(fsys files.FS, o Options) (shape []int, classes int) {
	o.EnsureDefaults()
	switch o.Kind {
	case KindSynthetic:
		return []int{o.Synthetic.Channels, o.Synthetic.Size, o.Synthetic.Size}, o.Synthetic.Classes
	case KindCIFAR10:
		return []int{3, cifarSide, cifarSide}, len(cifar10Classes)
	case KindCIFAR100:
		return []int{3, cifarSide, cifarSide}, len(cifar100Classes)
	case KindMNIST, KindFashion:
		return []int{1, idxSide, idxSide}, len(digits)
	case KindDigits:
		return []int{1, digitsSide, digitsSide}, len(digits)
	case KindFolder:
		return []int{3, o.Size, o.Size}, foldersOf(fsys, o.Path)
	}
	return nil, 0
}

// foldersOf counts the folders of classes; zero where they cannot be read.
func foldersOf(fsys files.FS, path string) int {
	if fsys == nil {
		return 0
	}
	top, err := subfolders(fsys, path)
	if slices.Contains(top, "train") && slices.Contains(top, "test") {
		top, err = subfolders(fsys, filepath.Join(path, "train"))
	}
	if err != nil {
		return 0
	}
	return len(top)
}
