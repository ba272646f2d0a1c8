package dataset

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/internal/files"
	"graft/internal/parallel"
)

// sample is an image in a shard.
type sample struct {
	shard  string
	name   string // without its extension
	offset int64  // offset of its bytes; negative if there is none
	size   int64
	label  int64 // negative if there is none
}

// readShards reads samples of PATH/train/*.tar and PATH/test/*.tar, or only PATH/*.tar and uses a share of it as test
// set. A sample is two files with the same name, as in WebDataset: an image, and its class in .cls, a number from 0 on.
// classes.txt in PATH names the classes, one per line.
func readShards(fsys files.FS, o Options) (*source, error) {
	src := &source{name: filepath.Base(filepath.Clean(o.Path)), shape: [3]int{3, o.Size, o.Size}}
	top, err := subfolders(fsys, o.Path)
	if err != nil {
		return nil, err
	}
	var train, test []sample
	if slices.Contains(top, "train") && slices.Contains(top, "test") {
		if train, err = shards(fsys, filepath.Join(o.Path, "train")); err == nil {
			test, err = shards(fsys, filepath.Join(o.Path, "test"))
		}
	} else if train, err = shards(fsys, o.Path); err == nil {
		train, test = apartOf(train, func(s sample) int64 { return s.label }, o)
	}
	if err != nil {
		return nil, err
	}
	if src.classes, err = shardClasses(fsys, o.Path, train, test); err != nil {
		return nil, err
	}
	if err := o.fits(len(train), len(test)); err != nil {
		return nil, err
	}
	src.train, src.test = samples(fsys, train, o.form()), samples(fsys, test, o.form())
	return src, nil
}

// shards lists the samples of a folder's shards.
func shards(fsys files.FS, folder string) (all []sample, err error) {
	names, err := list(fsys, folder,
		func(name string, dir bool) bool { return !dir && strings.HasSuffix(name, ".tar") })
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("read %s: %w: the folder has no .tar files", folder, ErrMissing)
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		some, err := readShard(fsys, path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w; replace or remove this file", path, damaged(err))
		}
		if all = append(all, some...); len(all) > maxImages {
			return nil, fmt.Errorf("read %s: the folder has more than the maximum of %d images", folder, maxImages)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read %s: %w: the shards contain no images", folder, ErrMissing)
	}
	return all, nil
}

// readShard lists the samples of a shard in their order.
func readShard(fsys files.FS, path string) ([]sample, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return indexed(path, io.NewSectionReader(file, 0, info.Size()))
}

func indexed(shard string, r *io.SectionReader) (all []sample, err error) {
	places, entries := map[string]int{}, tar.NewReader(r)
	for {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		name, ending, _ := strings.Cut(path.Base(h.Name), ".")
		ending = "." + strings.ToLower(ending)
		if picture := slices.Contains(endings, ending); h.Typeflag != tar.TypeReg || name == "" ||
			!picture && ending != ".cls" {
			continue
		}
		name = path.Join(path.Dir(h.Name), name)
		at, known := places[name]
		if !known {
			at = len(all)
			places[name], all = at, append(all, sample{shard: shard, name: name, offset: -1, label: -1})
		}
		if err := all[at].take(h, ending, r, entries); err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	for _, s := range all {
		if s.offset < 0 || s.label < 0 {
			return nil, fmt.Errorf("sample %s has no image or no class; expected an image and a .cls file", s.name)
		}
	}
	return all, nil
}

// take adds a file to the sample.
func (s *sample) take(h *tar.Header, ending string, r *io.SectionReader, entries io.Reader) error {
	if ending != ".cls" {
		if s.offset >= 0 {
			return errors.New("the sample has two images; expected one")
		}
		if h.Size > maxPictureFile {
			return fmt.Errorf("the image has %d bytes; the maximum is %d", h.Size, maxPictureFile)
		}
		var err error
		s.offset, err = r.Seek(0, io.SeekCurrent)
		s.size = h.Size
		return err
	}
	if s.label >= 0 {
		return errors.New("the sample has two classes; expected one")
	}
	text, err := io.ReadAll(io.LimitReader(entries, 20))
	if err != nil {
		return err
	}
	if s.label, err = strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 32); err != nil || s.label < 0 {
		return fmt.Errorf("invalid class %q; expected a whole number of at least 0", text)
	}
	return nil
}

// shardClasses returns the lines of classes.txt, or the numbers.
func shardClasses(fsys files.FS, folder string, lists ...[]sample) (classes []string, err error) {
	count := int64(0)
	for _, s := range slices.Concat(lists...) {
		count = max(count, s.label+1)
	}
	if count > mostClasses {
		return nil, fmt.Errorf("read %s: a sample has class %d; the maximum is %d", folder, count-1, mostClasses-1)
	}
	if all := len(slices.Concat(lists...)); count > fewLabels && count > int64(all) {
		return nil, fmt.Errorf("read %s: the largest class number is %d, but there are only %d images; "+
			"number the classes from 0, because the network has an output per class", folder, count-1, all)
	}
	name := filepath.Join(folder, "classes.txt")
	if _, missing := fsys.Stat(name); missing != nil {
		for k := range max(2, count) {
			classes = append(classes, strconv.FormatInt(k, 10))
		}
		return classes, nil
	}
	text, err := files.ReadAll(fsys, name, 1<<20)
	if err != nil {
		return nil, err
	}
	if classes, err = classNames(string(text)); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(classes)) < count || len(classes) > mostClasses {
		return nil, fmt.Errorf("read %s: the file lists %d classes; the samples need at least %d, and the "+
			"maximum is %d", name, len(classes), count, mostClasses)
	}
	return classes, nil
}

// classNames returns the lines of a list of classes. Empty lines at its end are left out: each line is an output of the
// network.
func classNames(text string) (classes []string, err error) {
	for k, line := range strings.Split(strings.TrimRight(text, " \t\r\n"), "\n") {
		class := strings.TrimSpace(line)
		if class == "" {
			return nil, fmt.Errorf("line %d is empty; write the name of class %d, or remove the line", k+1, k)
		}
		classes = append(classes, class)
	}
	return classes, nil
}

// samples is a pool whose images are read on demand.
func samples(fsys files.FS, all []sample, f form) pool {
	labels := make([]int64, len(all))
	for k, s := range all {
		labels[k] = s.label
	}
	return pool{labels: labels,
		name: func(row int) (string, int64, error) { return all[row].name, all[row].size, nil },
		images: func(rows []int) ([]byte, error) {
			each := f.bytes()
			out := make([]byte, len(rows)*each)
			return out, parallel.Each(context.Background(), len(rows), 0, func(k int) error {
				return all[rows[k]].read(fsys, out[k*each:(k+1)*each], f)
			}).First()
		}}
}

func (s *sample) read(fsys files.FS, into []byte, f form) error {
	file, err := fsys.Open(s.shard)
	if err != nil {
		return err
	}
	defer file.Close()
	data := make([]byte, s.size)
	if _, err = io.ReadFull(io.NewSectionReader(file, s.offset, s.size), data); err == nil {
		err = f.decode(data, into)
	}
	if err != nil {
		return fmt.Errorf("read %s in %s: %w; replace or remove this image", s.name, s.shard, damaged(err))
	}
	return nil
}

// apartOf divides images of one folder into training and test images.
func apartOf[T any](all []T, label func(T) int64, o Options) (train, test []T) {
	labels := make([]int64, len(all))
	for k, one := range all {
		labels[k] = label(one)
	}
	rest, drawn := withheld(labels, everyRow(len(all)), shareOf(len(all), o.ValidationShare), o.Seed, streamTest)
	for _, k := range rest {
		train = append(train, all[k])
	}
	for _, k := range drawn {
		test = append(test, all[k])
	}
	return train, test
}

// mostClasses limits the classes of shards.
const mostClasses = 1_000_000
