package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// imagesCommand is about the images agents run in.
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

// imageEngine connects to the engine of this machine and says where the cache
// of root file systems and agent programs is.
func imageEngine(ctx context.Context) (client *docker.Client, cache string, err error) {
	p, err := findPlace()
	if err != nil {
		return nil, "", err
	}
	client, err = connect(ctx, p)
	return client, p.cache, err
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
				return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
			}
			return printImages(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
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

func imagesBuildCommand() *cobra.Command {
	var asJSON bool
	var base string
	cmd := &cobra.Command{
		Use:   "build [NAME...]",
		Short: "Build the images that are not ready",
		Long: `Build the images that are not ready: the named ones or all.

The root file system comes from a registry; where none can be reached it is
made on this machine by mmdebstrap. --base chooses one of the two.`,
		Example: `  ironcurtain-mux images build
  ironcurtain-mux images build --base mmdebstrap claude-code`,
		RunE: func(cmd *cobra.Command, names []string) error {
			choice := docker.BaseChoice(base)
			if base == "auto" {
				choice = docker.BaseAuto
			} else if choice != docker.BaseRegistry && choice != docker.BaseMmdebstrap {
				return usagef("--base %s: use auto, registry or mmdebstrap", base)
			}
			return buildImages(cmd, names, choice, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the progress and the tags as JSON lines")
	cmd.Flags().StringVar(&base, "base", "auto", "where the root file system comes from: auto, registry or mmdebstrap")
	return cmd
}

// buildImages makes the named images, or all, one after the other.
func buildImages(cmd *cobra.Command, names []string, base docker.BaseChoice, asJSON bool) error {
	known := docker.Images()
	if len(names) == 0 {
		for _, i := range known {
			names = append(names, i.Name)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(known, func(i docker.ImageSpec) bool { return i.Name == n }) {
			return usagef("there is no image %q (see 'ironcurtain-mux images ls')", n)
		}
	}
	client, cache, err := imageEngine(cmd.Context())
	if err != nil {
		return fail("build images", err, "")
	}
	out := json.NewEncoder(cmd.OutOrStdout())
	options := docker.BuildOptions{CacheDir: cache, Base: base, OnProgress: func(p docker.Progress) {
		if asJSON {
			_ = out.Encode(map[string]any{"progress": p})
			return
		}
		fmt.Fprintln(cmd.ErrOrStderr(), p)
	}}
	for _, n := range names {
		tag, err := client.EnsureImage(cmd.Context(), n, options)
		if err != nil {
			return fail("build images", err, "")
		}
		if asJSON {
			_ = out.Encode(map[string]string{"image": n, "tag": tag})
		} else {
			fmt.Fprintln(cmd.OutOrStdout(), tag)
		}
	}
	return nil
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
				return usagef("images rm: name images, or give one of --old and --all")
			}
			client, _, err := imageEngine(cmd.Context())
			if err != nil {
				return fail("remove images", err, "")
			}
			removed, err := client.RemoveImages(cmd.Context(), func(i docker.Image) bool {
				return all || old && !i.Current || slices.Contains(names, i.Name)
			})
			if asJSON {
				_ = json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"removed": removed})
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the removed tags as JSON")
	return cmd
}
