package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/internal/parallel"
)

// endings are the supported extensions, in lower case.
var endings = []string{".png", ".jpg", ".jpeg", ".gif"}

// otherEndings are extensions of images that graft cannot read, in lower case. Other programs read most of them, so a
// folder that contains them is refused, not read in part.
var otherEndings = []string{".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm", ".jfif", ".jpe", ".jp2",
	".heic", ".heif", ".avif", ".tga", ".exr", ".npy", ".dcm"}

// otherSplits are names of folders with images for validation, next to the folders train and test.
var otherSplits = []string{"val", "valid", "validation", "dev"}

// maxImages limits the images of a folder.
const maxImages = 10_000_000

type picture struct {
	path  string
	label int64
}

// findFolder finds the folders of splits or classes.
func findFolder(fsys files.FS, o Options) (reader, error) {
	top, err := subfolders(fsys, o.Path)
	if err == nil {
		err = splitsOf(o.Path, top, o)
	}
	return func() (*source, error) { return readFolder(fsys, o, top) }, err
}

// readFolder lists PATH/train/CLASS and PATH/test/CLASS, or only PATH/CLASS and uses a share of it as test set. Names
// determine the order and the labels. The argument top lists the folders in PATH.
func readFolder(fsys files.FS, o Options, top []string) (*source, error) {
	src := &source{name: filepath.Base(filepath.Clean(o.Path)), shape: [3]int{3, o.Size, o.Size}}
	var train, validation, test []picture
	var err error
	if twoSplits(top) {
		train, validation, test, err = src.splitFolders(fsys, o)
	} else {
		train, test, err = src.oneFolder(fsys, o, top)
	}
	if err != nil {
		return nil, err
	}
	if err := o.fits(len(train), len(validation), len(test)); err != nil {
		return nil, err
	}
	src.train, src.test = pictures(fsys, train, o.form()), pictures(fsys, test, o.form())
	src.validation = pictures(fsys, validation, o.form())
	return src, nil
}

// subfolders lists the folders in a folder; names with a leading dot are skipped.
func subfolders(fsys files.FS, folder string) ([]string, error) {
	return list(fsys, folder, func(name string, dir bool) bool { return dir && !strings.HasPrefix(name, ".") })
}

// IgnoredFolder returns the name of a folder with images for validation that the options do not use; empty if there is
// none, or if the folders cannot be read.
func IgnoredFolder(fsys files.FS, o Options) string {
	if o.Kind != KindFolder || o.ValidationFolder != "" || fsys == nil {
		return ""
	}
	top, err := subfolders(fsys, o.Path)
	k := slices.IndexFunc(top, func(name string) bool { return slices.Contains(otherSplits, name) })
	if err != nil || k < 0 || !twoSplits(top) {
		return ""
	}
	return top[k]
}

// twoSplits reports whether subfolders are splits, not classes.
func twoSplits(top []string) bool {
	return slices.Contains(top, "train") && slices.Contains(top, "test")
}

// splitsOf returns an error if the subfolders of a folder are splits that graft does not read as such. Without the
// error, images for validation would be a class next to train alone.
func splitsOf(folder string, top []string, o Options) error {
	if o.ValidationFolder != "" && (!twoSplits(top) || !slices.Contains(top, filepath.Clean(o.ValidationFolder))) {
		return fmt.Errorf("read %s: data.validation_folder is %q, but the folders are %s; expected train, test and "+
			"the folder for validation", folder, o.ValidationFolder, strings.Join(top, ", "))
	}
	k := slices.IndexFunc(top, func(name string) bool { return slices.Contains(otherSplits, name) })
	if k < 0 || !slices.Contains(top, "train") || slices.Contains(top, "test") {
		return nil
	}
	return fmt.Errorf("read %s: got the folders train and %s, expected train and test; rename %[2]s to test, and "+
		"graft holds out a share of train for validation", folder, top[k])
}

// list returns the wanted names in a folder, in order. Links are followed.
func list(fsys files.FS, folder string, want func(name string, dir bool) bool) ([]string, error) {
	entries, err := fsys.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; expected a folder of images with the layout PATH/train/CLASS/* and "+
			"PATH/test/CLASS/*, or PATH/CLASS/*", folder, err)
	}
	var names []string
	for _, entry := range entries {
		dir := entry.IsDir()
		if !dir && !entry.Type().IsRegular() {
			info, err := fsys.Stat(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", folder, err)
			}
			dir = info.IsDir()
		}
		if want(entry.Name(), dir) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// splitFolders lists the images of the folders of splits. Validation is empty if a share of train is held out.
func (src *source) splitFolders(fsys files.FS, o Options) (train, validation, test []picture, err error) {
	if src.classes, err = subfolders(fsys, filepath.Join(o.Path, "train")); err != nil {
		return nil, nil, nil, err
	}
	for _, split := range []struct {
		folder string
		into   *[]picture
	}{{"train", &train}, {"test", &test}, {o.ValidationFolder, &validation}} {
		if split.folder == "" {
			continue
		}
		folder := filepath.Join(o.Path, split.folder)
		classes, err := subfolders(fsys, folder)
		if err != nil {
			return nil, nil, nil, err
		}
		if *split.into, err = src.gather(fsys, folder, classes); err != nil {
			return nil, nil, nil, err
		}
		if len(*split.into) == 0 {
			return nil, nil, nil, fmt.Errorf("read %s: %w: the folder has no classes", folder, ErrMissing)
		}
	}
	return train, validation, test, nil
}

// oneFolder splits the images of a folder into training and test images.
func (src *source) oneFolder(fsys files.FS, o Options, classes []string) (train, test []picture, err error) {
	src.classes = classes
	all, err := src.gather(fsys, o.Path, classes)
	if err != nil {
		return nil, nil, err
	}
	train, test = apartOf(all, func(p picture) int64 { return p.label }, o)
	return train, test, nil
}

// fits returns an error if images that stay in memory would exceed the limit.
func (o *Options) fits(counts ...int) error {
	largest := slices.Max(counts)
	if most := maxBytes / (3 * o.Size * o.Size); !o.Stream && largest > most {
		return fmt.Errorf("read %s: %d images with sides of %d pixels take more than %d GiB; set stream = true, "+
			"or choose a smaller size", o.Path, largest, o.Size, maxBytes>>30)
	}
	return nil
}

// gather lists the images of some of the classes below a folder.
func (src *source) gather(fsys files.FS, folder string, classes []string) ([]picture, error) {
	if len(src.classes) < 2 {
		return nil, fmt.Errorf("read %s: %w: the folder has %d subfolders; expected one for each class, and at least "+
			"two",
			folder, ErrMissing, len(src.classes))
	}
	var all []picture
	for _, class := range classes {
		label := slices.Index(src.classes, class)
		if label < 0 {
			return nil, fmt.Errorf("read %s: unknown class %q; expected one of: %s", folder, class,
				strings.Join(src.classes, ", "))
		}
		names, err := pictureNames(fsys, filepath.Join(folder, class))
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("read %s: %w: the folder has no files with extension %s; add images, or "+
				"remove the folder", filepath.Join(folder, class), ErrMissing, strings.Join(endings, ", "))
		}
		for _, name := range names {
			all = append(all, picture{filepath.Join(folder, class, name), int64(label)})
		}
	}
	if len(all) > maxImages {
		return nil, fmt.Errorf("read %s: the folder has %d images; the maximum is %d", folder, len(all), maxImages)
	}
	return all, nil
}

// pictureNames lists the images in the folder of a class. It returns an error if the folder has images that would be
// left out: in subfolders, or in other formats. Other files are left out, and so are names with a leading dot.
func pictureNames(fsys files.FS, folder string) ([]string, error) {
	var below, other string
	names, err := list(fsys, folder, func(name string, dir bool) bool {
		ending := strings.ToLower(filepath.Ext(name))
		switch {
		case strings.HasPrefix(name, "."):
			return false
		case dir:
			below = name
		case slices.Contains(otherEndings, ending):
			other = name
		}
		return !dir && slices.Contains(endings, ending)
	})
	if err != nil {
		return nil, err
	}
	if other != "" {
		return nil, fmt.Errorf("read %s: graft cannot read the format of %s; convert the images to one of %s, or move "+
			"them elsewhere", folder, other, strings.Join(endings, ", "))
	}
	if below != "" && len(names) > 0 {
		return nil, fmt.Errorf("read %s: the folder of a class has the subfolder %s, whose files would not be read; "+
			"move its images into %[1]s, or move the subfolder elsewhere", folder, below)
	}
	return names, nil
}

// pictures is a pool whose images are read on demand.
func pictures(fsys files.FS, all []picture, f form) pool {
	labels := make([]int64, len(all))
	for k, p := range all {
		labels[k] = p.label
	}
	name := func(row int) (string, int64, error) {
		info, err := fsys.Stat(all[row].path)
		if err != nil {
			return "", 0, err
		}
		return filepath.Base(all[row].path), info.Size(), nil
	}
	return pool{labels: labels, name: name, images: func(rows []int) ([]byte, error) {
		bytes := f.bytes()
		out := make([]byte, len(rows)*bytes)
		return out, parallel.Each(context.Background(), len(rows), 0, func(k int) error {
			return f.readPicture(fsys, all[rows[k]].path, out[k*bytes:(k+1)*bytes])
		}).First()
	}}
}
