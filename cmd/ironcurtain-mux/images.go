package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

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

// imageEngine connects to the engine of this machine and says how images are
// built on it: where the cache is, and what the configuration chooses.
func imageEngine(ctx context.Context) (*docker.Client, docker.BuildOptions, error) {
	p, err := findPlace()
	if err != nil {
		return nil, docker.BuildOptions{}, err
	}
	c, err := p.config()
	if err != nil {
		return nil, docker.BuildOptions{}, err
	}
	client, err := connect(ctx, p)
	if err != nil {
		return nil, docker.BuildOptions{}, err
	}
	return client, docker.BuildOptions{CacheDir: p.cache, Base: baseChoice(c.Images.From)}, nil
}

// baseChoice is where a root file system comes from, by its name in flags and
// in the configuration.
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
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"images": append([]docker.Image{}, list...)})
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

func imagesBuildCommand() *cobra.Command {
	var asJSON bool
	var base string
	cmd := &cobra.Command{
		Use:   "build [NAME...]",
		Short: "Build the images that are not ready",
		Long: `Build the images that are not ready, beside each other: the named ones, or all
that can be built on this machine.

The root file system comes from a registry; where none can be reached it is
made on this machine by mmdebstrap. --base chooses one of the two.`,
		Example: `  ironcurtain-mux images build
  ironcurtain-mux images build --base mmdebstrap claude-code`,
		RunE: func(cmd *cobra.Command, names []string) error {
			switch base {
			case "", "auto", string(docker.BaseRegistry), string(docker.BaseMmdebstrap):
				return buildImages(cmd, names, base, asJSON)
			}
			return usagef("--base %s: use auto, registry or mmdebstrap", base)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "jsonl", false, "print the progress and the tags as JSON lines")
	cmd.Flags().StringVar(&base, "base", "", "where the root file system comes from: auto, registry or mmdebstrap (default from config.json)")
	return cmd
}

// buildAtOnce is how many images are built beside each other: what takes long is
// to get their programs and to copy them.
const buildAtOnce = 3

// buildImages makes the named images, or all that can be made.
func buildImages(cmd *cobra.Command, names []string, base string, asJSON bool) error {
	const op = "build images"
	known, all := docker.Images(), len(names) == 0
	for _, i := range known {
		if missing := i.Lacks(); all && len(missing) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is left out: not installed on this machine: %s\n", i.Name, strings.Join(missing, ", "))
		} else if all {
			names = append(names, i.Name)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(known, func(i docker.ImageSpec) bool { return i.Name == n }) {
			return usagef("there is no image %q (see 'ironcurtain-mux images ls')", n)
		}
	}
	client, options, err := imageEngine(cmd.Context())
	if err != nil {
		return fail(op, err, "")
	}
	if base != "" {
		options.Base = baseChoice(base)
	}
	say := &builderOutput{out: cmd.OutOrStdout(), progress: cmd.ErrOrStderr(), asJSON: asJSON}
	var work errgroup.Group
	work.SetLimit(buildAtOnce)
	for _, n := range names {
		work.Go(func() error {
			var last lastLines
			options := options
			options.OnProgress = func(p docker.Progress) { last.note(p); say.step(p) }
			tag, err := client.EnsureImage(cmd.Context(), n, options)
			if err != nil {
				say.failed(n, last)
				return err
			}
			say.done(n, tag)
			return nil
		})
	}
	return fail(op, work.Wait(), "")
}

// builderOutput prints what several builds report, one line at a time.
type builderOutput struct {
	mu       sync.Mutex
	out      io.Writer
	progress io.Writer
	asJSON   bool
}

func (o *builderOutput) step(p docker.Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asJSON {
		_ = json.NewEncoder(o.out).Encode(map[string]any{"progress": p})
		return
	}
	fmt.Fprintf(o.progress, "%s: %s\n", p.Image, p)
}

func (o *builderOutput) done(image, tag string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asJSON {
		_ = json.NewEncoder(o.out).Encode(map[string]string{"image": image, "tag": tag})
		return
	}
	fmt.Fprintln(o.out, tag)
}

// failed repeats what the builder said last: lines of other builds may stand between.
func (o *builderOutput) failed(image string, last lastLines) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asJSON || len(last.lines) == 0 {
		return
	}
	fmt.Fprintf(o.progress, "%s: failed in %q; its last lines:\n", image, last.step)
	for _, line := range last.lines {
		fmt.Fprintf(o.progress, "%s:   %s\n", image, line)
	}
}

// lastLines are the last lines of a step.
type lastLines struct {
	step  string
	lines []string
}

func (l *lastLines) note(p docker.Progress) {
	if p.Title != l.step {
		l.step, l.lines = p.Title, nil
	}
	if p.Detail != "" {
		l.lines = append(l.lines, p.Detail)
	}
	const most = 8
	l.lines = l.lines[max(0, len(l.lines)-most):]
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
			removed, err := client.RemoveImages(cmd.Context(), func(i docker.Image) bool {
				return all || old && !i.Current || slices.Contains(names, i.Name)
			})
			if asJSON {
				_ = json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"removed": append([]string{}, removed...)})
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
