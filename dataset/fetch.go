package dataset

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/internal/files"
)

// remote is a published file. Its checksums are the publishers' own.
type remote struct {
	name  string
	url   string
	md5   string
	bytes int64
}

const (
	cifarHost   = "https://www.cs.toronto.edu/~kriz/"
	mnistHost   = "https://ossci-datasets.s3.amazonaws.com/mnist/"
	fashionHost = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
)

// published are the datasets that Fetch supports. The checksums are from CIFAR's page, from Fashion-MNIST's repository
// and, for MNIST, from torchvision.
var published = map[string][]remote{
	KindCIFAR10: {{"cifar-10-binary.tar.gz", cifarHost + "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530",
		170_052_171}},
	KindCIFAR100: {{"cifar-100-binary.tar.gz", cifarHost + "cifar-100-binary.tar.gz",
		"03b5dce01913d631647c71ecec9e9cb8", 168_513_733}},
	KindMNIST: {
		{"train-images-idx3-ubyte.gz", mnistHost + "train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873",
			9_912_422},
		{"train-labels-idx1-ubyte.gz", mnistHost + "train-labels-idx1-ubyte.gz",
			"d53e105ee54ea40749a09fcbcd1e9432", 28_881},
		{"t10k-images-idx3-ubyte.gz", mnistHost + "t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3",
			1_648_877},
		{"t10k-labels-idx1-ubyte.gz", mnistHost + "t10k-labels-idx1-ubyte.gz",
			"ec29112dd5afa0611ce80d1b7f02629c", 4_542},
	},
	KindFashion: {
		{"train-images-idx3-ubyte.gz", fashionHost + "train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
			26_421_880},
		{"train-labels-idx1-ubyte.gz", fashionHost + "train-labels-idx1-ubyte.gz",
			"25c81989df183df01b3e8a0aad5dffbe", 29_515},
		{"t10k-images-idx3-ubyte.gz", fashionHost + "t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79",
			4_422_102},
		{"t10k-labels-idx1-ubyte.gz", fashionHost + "t10k-labels-idx1-ubyte.gz",
			"bb300cfdad3c16e7a12a480ee83cd310", 5_148},
	},
}

// Fetchable lists the dataset kinds that Fetch downloads, in order.
func Fetchable() []string { return slices.Sorted(maps.Keys(published)) }

// Fetch downloads a published dataset into a folder, which can then be used as Options.Path. A file gets its final name
// only after its checksum is verified. An interrupted download keeps a name that ends in ".part", and the next call
// resumes it. Files that already have the right checksum are not downloaded again. A nil client means
// http.DefaultClient. The function progress, which may be nil, receives the number of finished bytes and the total
// number of bytes over all files.
func Fetch(ctx context.Context, client *http.Client, fsys files.FS, name, dir string,
	progress func(done, total int64)) error {
	list, known := published[name]
	if !known {
		return fmt.Errorf("fetch %s: unknown published dataset; expected one of: %s", name,
			strings.Join(Fetchable(), ", "))
	}
	return fetch(ctx, client, fsys, list, dir, progress)
}

func fetch(ctx context.Context, client *http.Client, fsys files.FS, list []remote, dir string,
	progress func(done, total int64)) error {
	if client == nil {
		client = http.DefaultClient
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return fmt.Errorf("fetch into %s: %w", dir, err)
	}
	var total, done int64
	for _, file := range list {
		total += file.bytes
	}
	for _, file := range list {
		before := done
		d := download{remote: file, client: client, fsys: fsys, path: filepath.Join(dir, file.name),
			tell: func(bytes int64) { progress(before+bytes, total) }}
		if err := d.run(ctx); err != nil {
			return fmt.Errorf("fetch %s: %w", file.url, err)
		}
		done += file.bytes
		progress(done, total)
	}
	return nil
}

type download struct {
	remote
	client *http.Client
	fsys   files.FS
	path   string
	tell   func(bytes int64)
}

func (d download) part() string { return d.path + ".part" }

func (d download) run(ctx context.Context) error {
	sum, _, err := d.sum(d.path)
	if err != nil || (sum != nil && d.right(sum)) {
		return err
	}
	sum, have, err := d.sum(d.part())
	if err != nil {
		return err
	}
	if have < d.bytes || !d.right(sum) {
		if sum, err = d.transfer(ctx, sum, have); err != nil {
			return err
		}
	}
	if !d.right(sum) {
		err := fmt.Errorf("the MD5 of the download is %s, but the published MD5 is %s; the download was deleted; "+
			"try again later or from another network", hex.EncodeToString(sum.Sum(nil)), d.md5)
		return errors.Join(err, d.fsys.Remove(d.part()))
	}
	if err := d.fsys.Rename(d.part(), d.path); err != nil {
		return err
	}
	return d.fsys.SyncDir(filepath.Dir(d.path))
}

func (d download) right(sum hash.Hash) bool { return hex.EncodeToString(sum.Sum(nil)) == d.md5 }

// sum is the checksum of the existing part of a file; nil if there is none.
func (d download) sum(path string) (sum hash.Hash, bytes int64, err error) {
	there, err := isFile(d.fsys, path)
	if err != nil || !there {
		return nil, 0, err
	}
	err = readFile(d.fsys, path, func(r io.Reader, _ int64) error {
		sum = md5.New()
		bytes, err = io.Copy(sum, io.LimitReader(r, d.bytes+1))
		return err
	})
	return sum, bytes, err
}

// transfer requests the missing bytes and returns the checksum of the whole part.
func (d download) transfer(ctx context.Context, sum hash.Hash, have int64) (hash.Hash, error) {
	if have >= d.bytes {
		have = 0 // complete and wrong: restart
	}
	response, err := d.ask(ctx, have)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if !continues(response, have) {
		have = 0
	}
	if have == 0 {
		if sum, err = md5.New(), d.discard(); err != nil {
			return nil, err
		}
	}
	if err := d.receive(response.Body, sum, have); err != nil {
		return nil, err
	}
	return sum, nil
}

func (d download) ask(ctx context.Context, have int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return nil, err
	}
	if have > 0 {
		request.Header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
	}
	response, err := d.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w; check the network connection of this machine, and run the command again", err)
	}
	if response.StatusCode == http.StatusOK || (have > 0 && response.StatusCode == http.StatusPartialContent) {
		return response, nil
	}
	err = fmt.Errorf("the server responded with %s; try again later, or copy %s to %s by hand", response.Status,
		d.name, d.path)
	if response.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		err = errors.Join(err, d.discard()) // the next call restarts
	}
	return nil, errors.Join(err, response.Body.Close())
}

// continues reports whether the server sends the bytes after the existing ones.
func continues(response *http.Response, have int64) bool {
	return response.StatusCode == http.StatusPartialContent &&
		strings.HasPrefix(response.Header.Get("Content-Range"), "bytes "+strconv.FormatInt(have, 10)+"-")
}

// discard deletes the part of an earlier call.
func (d download) discard() error {
	if err := d.fsys.Remove(d.part()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d download) receive(body io.Reader, sum hash.Hash, have int64) (err error) {
	file, err := d.fsys.Append(d.part())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	to := io.MultiWriter(file, sum, &meter{done: have, tell: d.tell})
	got, err := io.Copy(to, io.LimitReader(body, d.bytes-have+1))
	if err != nil {
		return errors.Join(fmt.Errorf("the connection was lost after %d of %d bytes: %w; "+
			"run the command again to resume", have+got, d.bytes, err), file.Sync())
	}
	return file.Sync()
}

// meter counts the bytes written to it.
type meter struct {
	done int64
	tell func(bytes int64)
}

// Write counts the bytes and never fails.
func (m *meter) Write(data []byte) (int, error) {
	m.done += int64(len(data))
	m.tell(m.done)
	return len(data), nil
}
