package dataset

import (
	"fmt"
	"io"

	"graft/torch/pickle"
)

// parseBinary reads records of labels, a byte each, and an image.
func parseBinary(c *cifar, r io.Reader, size int64, into block) error {
	rows := len(into.labels)
	if want := int64(rows) * int64(c.labels+cifarImage); size != want {
		return fmt.Errorf("the file has %d bytes, but %d images of %s take %d "+
			"bytes; %s", size, rows, c.name, want, again)
	}
	head := make([]byte, c.labels)
	for k := range rows {
		if _, err := io.ReadFull(r, head); err != nil {
			return cutShort(k, rows, err)
		}
		if _, err := io.ReadFull(r, into.images[k*cifarImage:(k+1)*cifarImage]); err != nil {
			return cutShort(k, rows, err)
		}
		label := int64(head[c.labels-1])
		if err := c.check(label, k); err != nil {
			return err
		}
		into.labels[k] = label
	}
	return ended(r)
}

func cutShort(k, rows int, err error) error {
	return fmt.Errorf("the file is truncated in image %d of %d: %w; %s", k+1, rows, err, again)
}

func (c *cifar) check(label int64, k int) error {
	if label < 0 || label >= int64(len(c.classes)) {
		return fmt.Errorf("image %d has label %d, but %s has labels 0 to %d; the file is corrupt, or not part of this "+
			"dataset; %s", k+1, label, c.name, len(c.classes)-1, again)
	}
	return nil
}

// perRow limits the bytes of a pickle per image, excluding pixels: its name, two labels and their storage.
const perRow = 1 << 10

// parsePickle reads a dict with an array of images and a list of labels. It executes no code from the file.
func parsePickle(c *cifar, r io.Reader, _ int64, into block) error {
	rows := len(into.labels)
	bytes := int64(rows)*(cifarImage+perRow) + perRow*perRow
	value, err := pickle.Read(r, pickle.Options{Constructors: pickle.NumPy(), MaxBytes: 2 * bytes, MaxString: bytes})
	if err != nil {
		return fmt.Errorf("the file is not a Python batch of %s: %w; %s", c.name, err, again)
	}
	batch, err := pickle.As[*pickle.Dict](value)
	if err != nil {
		return fmt.Errorf("the file is not a Python batch of %s: %w", c.name, err)
	}
	if err := c.takeLabels(batch, into.labels); err != nil {
		return err
	}
	return takeImages(batch, into)
}

func (c *cifar) takeLabels(batch *pickle.Dict, into []int64) error {
	list, err := pickle.Field[*pickle.List](batch, c.key)
	if err != nil {
		return fmt.Errorf("the file is not a Python batch of %s: %w", c.name, err)
	}
	if len(list.Items) != len(into) {
		return fmt.Errorf("the file has %d labels for %d images; %s", len(list.Items), len(into), again)
	}
	for k, item := range list.Items {
		label, err := pickle.As[int64](item)
		if err != nil {
			return fmt.Errorf("label %d: %w", k+1, err)
		}
		if err := c.check(label, k); err != nil {
			return err
		}
		into[k] = label
	}
	return nil
}

func takeImages(batch *pickle.Dict, into block) error {
	data, err := pickle.Field[*pickle.Array](batch, "data")
	if err != nil {
		return err
	}
	rows := len(into.labels)
	if data.DType != "|u1" || len(data.Shape) != 2 || data.Shape[0] != int64(rows) || data.Shape[1] != cifarImage {
		return fmt.Errorf("the images have type %s and shape %v; expected |u1 and [%d %d]; %s", data.DType,
			data.Shape, rows, cifarImage, again)
	}
	if !data.FortranOrder {
		copy(into.images, data.Data)
		return nil
	}
	for k, value := range data.Data { // column by column
		into.images[k%rows*cifarImage+k/rows] = value
	}
	return nil
}
