package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// Command groups the commands for the images that agents run in.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "images",
		Short: "List, build and remove the images agents run in",
		Long: `List, build and remove the images agents run in.

An image is built when a session first needs it. Its tag is the hash of what it is
built from: a changed Dockerfile or agent version makes a new image, and the old one
stays until you remove it. On an engine that does not see this machine's files, an
image named layer adds the files that are mounted on other engines.`,
		Example: `  ironcurtain-mux images ls
  ironcurtain-mux images build claude-code
  ironcurtain-mux images rm --old`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(imagesLsCommand(), imagesBuildCommand(), imagesRmCommand())
	return cmd
}

// imageEngine connects to the engine, and returns the options for building images on it: the cache
// directory and the choices of the configuration.
func imageEngine(ctx context.Context, named wiring.EngineFlag) (*docker.Client, docker.BuildOptions, error) {
	p, c, err := wiring.LoadConfig()
	if err != nil {
		return nil, docker.BuildOptions{}, err
	}
	client, err := wiring.ConnectEngine(ctx, named.In(p))
	if err != nil {
		return nil, docker.BuildOptions{}, err
	}
	return client, docker.BuildOptions{CacheDir: p.Cache, Base: wiring.BaseChoice(c.Images.From), Recipe: wiring.RecipeOf(c.Images)}, nil
}

func imagesLsCommand() *cobra.Command {
	var asJSON bool
	var engine wiring.EngineFlag
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the images and whether they are ready",
		Example: `  ironcurtain-mux images ls
  ironcurtain-mux images ls --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, list, err := allImages(cmd.Context(), engine)
			if err != nil {
				return cli.Fail("list images", err, "")
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"images": append([]docker.Image{}, list...)})
			}
			users, err := imageUsers(cmd.Context(), client)
			if err != nil {
				return cli.Fail("list images", err, "")
			}
			return printImages(cmd.OutOrStdout(), list, users)
		},
	}
	engine.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// allImages lists the images by the recipes of config.json and of all workspaces, and the
// old ones.
func allImages(ctx context.Context, engine wiring.EngineFlag) (*docker.Client, []docker.Image, error) {
	client, options, err := imageEngine(ctx, engine)
	if err != nil {
		return nil, nil, err
	}
	p, err := wiring.FindPaths()
	if err != nil {
		return nil, nil, err
	}
	recipes, err := session.Recipes(options.Recipe, p.Home)
	if err != nil {
		return nil, nil, err
	}
	list, err := client.ListImages(ctx, recipes...)
	return client, list, err
}

// imageUsers returns the sessions that have a container, as the beginnings of their ids, by image.
func imageUsers(ctx context.Context, client *docker.Client) (map[string][]string, error) {
	containers, err := client.List(ctx, nil)
	users := map[string][]string{}
	for _, c := range containers {
		if id := c.Labels[broker.LabelSession]; id != "" {
			users[c.Image] = append(users[c.Image], id[:min(len(id), 8)])
		}
	}
	return users, err
}

func printImages(w io.Writer, list []docker.Image, users map[string][]string) error {
	var rows [][]string
	for _, i := range list {
		size, created := "", ""
		if i.Present {
			size = fmt.Sprintf("%d MB", i.SizeBytes/1_000_000)
			created = i.CreatedAt.Local().Format(time.DateTime)
		}
		tag := i.Tag
		if i.Parent != "" {
			tag += " on " + i.Parent
		}
		rows = append(rows, []string{i.Name, i.Version, i.State(), size, created, i.Toolchains, strings.Join(users[i.Tag], " "), tag})
	}
	return cli.PrintTable(w, []string{"NAME", "VERSION", "STATE", "SIZE", "CREATED", "TOOLCHAINS", "USED BY", "TAG"}, rows)
}

func imagesRmCommand() *cobra.Command {
	var old, all, asJSON bool
	var engine wiring.EngineFlag
	cmd := &cobra.Command{
		Use:   "rm [NAME...]",
		Short: "Remove images of this program",
		Long: `Remove images of this program: the named ones, with all their tags and the layers on
them; with --old those that no current image needs; with --all every one. Images that
a container uses stay, and so does the cache of downloads.`,
		Example: `  ironcurtain-mux images rm claude-code
  ironcurtain-mux images rm --old`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if (len(names) > 0) == (old || all) || old && all {
				return cli.Usagef("name images, or give one of --old and --all")
			}
			client, list, err := allImages(cmd.Context(), engine)
			if err != nil {
				return cli.Fail("remove images", err, "")
			}
			if err := knownImages(list, names); err != nil {
				return cli.Fail("remove images", err, "see 'ironcurtain-mux images ls'")
			}
			removed, err := client.RemoveImages(cmd.Context(), slices.DeleteFunc(slices.Clone(list), func(i docker.Image) bool {
				return !all && (!old || i.Current) && !named(list, i, names)
			}))
			if asJSON {
				err = errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"removed": append([]string{}, removed...)}))
			} else {
				for _, tag := range removed {
					fmt.Fprintln(cmd.OutOrStdout(), tag)
				}
			}
			return cli.Fail("remove images", err, "")
		},
	}
	engine.Register(cmd)
	cmd.Flags().BoolVar(&old, "old", false, "remove images that no current image needs")
	cmd.Flags().BoolVar(&all, "all", false, "remove every image of this program")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the removed tags as one JSON object")
	return cmd
}

// named reports whether an image of a list has one of the names, or is a layer on one that has.
func named(list []docker.Image, i docker.Image, names []string) bool {
	return slices.Contains(names, i.Name) || slices.ContainsFunc(list, func(below docker.Image) bool {
		return below.Tag == i.Parent && slices.Contains(names, below.Name)
	})
}

// knownImages refuses names that no image of a list has.
func knownImages(list []docker.Image, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(list, func(i docker.Image) bool { return i.Name == name }) {
			return fmt.Errorf("there is no image %q", name)
		}
	}
	return nil
}
