package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// imagesCommand groups the commands for the images that agents run in.
func imagesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "images",
		Short: "List, build and remove the images agents run in",
		Long: `List, build and remove the images agents run in.

An image is built when a session needs it first. Its tag is the hash of what it
is built from, so a changed Dockerfile or agent version makes a new image and
the old one stays until it is removed.`,
		Example: `  ironcurtain-mux images ls
  ironcurtain-mux images build claude-code
  ironcurtain-mux images rm --old`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(imagesLsCommand(), imagesBuildCommand(), imagesRmCommand())
	return cmd
}

// imageEngine connects to the engine of this machine and returns how images are built on
// it: the cache directory and the choices of the configuration.
func imageEngine(ctx context.Context) (*docker.Client, docker.BuildOptions, error) {
	p, c, err := loadConfig()
	if err != nil {
		return nil, docker.BuildOptions{}, err
	}
	client, err := connectEngine(ctx, p)
	if err != nil {
		return nil, docker.BuildOptions{}, err
	}
	return client, docker.BuildOptions{CacheDir: p.cache, Base: baseChoice(c.Images.From)}, nil
}

// baseChoice returns where a root file system comes from, by its name in flags and in the
// configuration.
func baseChoice(name string) docker.BaseChoice {
	if name == "auto" {
		return docker.BaseAuto
	}
	return docker.BaseChoice(name)
}

func imagesLsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the images and whether they are ready",
		Example: `  ironcurtain-mux images ls
  ironcurtain-mux images ls --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, _, err := imageEngine(cmd.Context())
			if err != nil {
				return fail("list images", err, "")
			}
			list, err := client.ListImages(cmd.Context())
			if err != nil {
				return fail("list images", err, "")
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"images": append([]docker.Image{}, list...)})
			}
			return printImages(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printImages(w io.Writer, list []docker.Image) error {
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tVERSION\tSTATE\tSIZE\tCREATED\tTAG")
	for _, i := range list {
		size, created := "-", "-"
		if i.Present {
			size = fmt.Sprintf("%d MB", i.SizeBytes/1_000_000)
			created = i.CreatedAt.Local().Format(time.DateTime)
		}
		version := i.Version
		if version == "" {
			version = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", i.Name, version, i.State(), size, created, i.Tag)
	}
	return table.Flush()
}

func imagesRmCommand() *cobra.Command {
	var old, all, asJSON bool
	cmd := &cobra.Command{
		Use:   "rm [NAME...]",
		Short: "Remove images of this program",
		Long: `Remove images of this program: those of the given names with all their tags,
with --old those that no current image needs, with --all every one. Images that
a container uses stay. The cache of downloads is not touched.`,
		Example: `  ironcurtain-mux images rm claude-code
  ironcurtain-mux images rm --old`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if (len(names) > 0) == (old || all) || old && all {
				return usagef("name images, or give one of --old and --all")
			}
			client, _, err := imageEngine(cmd.Context())
			if err != nil {
				return fail("remove images", err, "")
			}
			if err := knownImages(cmd.Context(), client, names); err != nil {
				return fail("remove images", err, "see 'ironcurtain-mux images ls'")
			}
			removed, err := client.RemoveImages(cmd.Context(), func(i docker.Image) bool {
				return all || old && !i.Current || slices.Contains(names, i.Name)
			})
			if asJSON {
				err = errors.Join(err, printJSON(cmd.OutOrStdout(), map[string]any{"removed": append([]string{}, removed...)}))
			} else {
				for _, tag := range removed {
					fmt.Fprintln(cmd.OutOrStdout(), tag)
				}
			}
			return fail("remove images", err, "")
		},
	}
	cmd.Flags().BoolVar(&old, "old", false, "remove what no current image needs")
	cmd.Flags().BoolVar(&all, "all", false, "remove every image of this program")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the removed tags as one JSON object")
	return cmd
}

// knownImages refuses names that no image of the program has.
func knownImages(ctx context.Context, client *docker.Client, names []string) error {
	list, err := client.ListImages(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(i docker.Image) bool { return i.Name == name }) {
			return fmt.Errorf("there is no image %q", name)
		}
	}
	return nil
}
