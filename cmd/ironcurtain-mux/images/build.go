package images

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

func imagesBuildCommand() *cobra.Command {
	var asJSON bool
	var base string
	var engine wiring.EngineFlag
	cmd := &cobra.Command{
		Use:   "build [NAME...]",
		Short: "Build the images that are not ready",
		Long: `Build the images that are not ready, several at a time: the named ones, or all that
can be built on this machine.

The root file system comes from a registry; if no registry can be reached, mmdebstrap
makes it on this machine. --base chooses one of the two.`,
		Example: `  ironcurtain-mux images build
  ironcurtain-mux images build --base mmdebstrap claude-code
  ironcurtain-mux images build --engine unix:///run/podman/podman.sock shell`,
		RunE: func(cmd *cobra.Command, names []string) error {
			switch base {
			case "", "auto", string(docker.BaseRegistry), string(docker.BaseMmdebstrap):
				return buildImages(cmd, engine, names, base, asJSON)
			}
			return cli.Usagef("--base %s: use auto, registry or mmdebstrap", base)
		},
	}
	engine.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "jsonl", false, "print the progress and the tags as JSON lines")
	cmd.Flags().StringVar(&base, "base", "", "where the root file system comes from: auto, registry or mmdebstrap (default from config.json)")
	return cmd
}

// buildAtOnce is how many images are built at a time. Downloading and copying programs
// takes most of the time.
const buildAtOnce = 3

// buildImages makes the named images, or all that can be made.
func buildImages(cmd *cobra.Command, engine wiring.EngineFlag, names []string, base string, asJSON bool) error {
	const op = "build images"
	known, all := docker.Images(), len(names) == 0
	for _, i := range known {
		if missing := i.Lacks(); all && len(missing) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is not built: this machine lacks %s\n", i.Name, strings.Join(missing, ", "))
		} else if all {
			names = append(names, i.Name)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(known, func(i docker.ImageSpec) bool { return i.Name == n }) {
			return cli.Usagef("there is no image %q (see 'ironcurtain-mux images ls')", n)
		}
	}
	client, options, err := imageEngine(cmd.Context(), engine)
	if err != nil {
		return cli.Fail(op, err, "")
	}
	if base != "" {
		options.Base = wiring.BaseChoice(base)
	}
	say := &builderOutput{out: cmd.OutOrStdout(), progress: cmd.ErrOrStderr(), asJSON: asJSON}
	var work errgroup.Group
	work.SetLimit(buildAtOnce)
	failures := make([]error, len(names))
	for i, n := range names {
		work.Go(func() error {
			var last lastLines
			options := options
			options.OnProgress = func(p docker.Progress) { last.note(p); say.step(p) }
			tag, err := client.EnsureImage(cmd.Context(), n, options)
			if err != nil {
				say.failed(n, last)
				failures[i] = err
				return nil // the other builds continue
			}
			say.done(n, tag)
			return nil
		})
	}
	err = errors.Join(work.Wait(), errors.Join(failures...))
	return cli.Fail(op, cli.OnOneLine(err), "")
}

// builderOutput prints the progress of several builds, one line at a time.
type builderOutput struct {
	mu       sync.Mutex
	out      io.Writer
	progress io.Writer
	asJSON   bool
}

// lastLines are the last lines of a step.
type lastLines struct {
	step  string
	lines []string
}

func (o *builderOutput) step(p docker.Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asJSON {
		_ = cli.PrintJSON(o.out, map[string]any{"progress": p})
		return
	}
	fmt.Fprintf(o.progress, "%s: %s\n", p.Image, p)
}

func (o *builderOutput) done(image, tag string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asJSON {
		_ = cli.PrintJSON(o.out, map[string]string{"image": image, "tag": tag})
		return
	}
	fmt.Fprintln(o.out, tag)
}

// failed prints the builder's last lines again, because lines of other builds may be
// between them.
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
