package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/dataset"
	"graft/internal/failure"
	"graft/internal/files"
)

func newDataCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:     "data",
		Short:   "Fetch published datasets",
		Long:    "data downloads published datasets. The default dataset, synthetic images, needs no download.",
		Example: "  graft data fetch cifar10 --dir data",
	}, newDataFetchCommand())
}

func newDataFetchCommand() *cobra.Command {
	dir := ""
	command := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Download a dataset and verify its published digest",
		Long: `fetch downloads ` + strings.Join(dataset.Fetchable(), ", ") + ` from their authors' servers. A
downloaded file gets its final name only after its digest is verified. If a download is
interrupted, the same command continues it.`,
		Example: "  graft data fetch cifar10\n  graft data fetch mnist --dir /data/mnist",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runDataFetch(command.Context(), command.OutOrStdout(), args[0], dir)
		},
	}
	command.Flags().StringVar(&dir, "dir", "data", "folder for the downloaded files")
	return command
}

func runDataFetch(ctx context.Context, w io.Writer, name, dir string) error {
	if known := dataset.Fetchable(); !slices.Contains(known, name) {
		return failure.Usagef("fetch %s: unknown dataset; expected one of: %s", name,
			strings.Join(known, ", "))
	}
	log, told := loggerFrom(ctx), int64(-1)
	progress := func(done, total int64) {
		if tenth := done * 10 / max(1, total); tenth != told {
			told = tenth
			log.Info("downloading", zap.String("dataset", name), zap.Int64("megabytes", done>>20),
				zap.Int64("of", total>>20))
		}
	}
	if err := dataset.Fetch(ctx, http.DefaultClient, files.OS{}, name, dir, progress); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s is in %s; train on it with --set data.kind=%q --set data.path=%q\n", name, dir,
		name, dir)
	return err
}
