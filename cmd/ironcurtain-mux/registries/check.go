package registries

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

func checkCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check ECOSYSTEM:NAME@VERSION",
		Short: "Show what would happen if an agent installed a version",
		Long: `Download and inspect one version of a package, and show the verdict of the rules for
packages: allow, ask or deny, and why. No agent gets the package, and nobody is asked.
The ecosystem is npm, pypi, go or cargo.`,
		Example: `  ironcurtain-mux registry check npm:left@2.1.0
  ironcurtain-mux registry check go:example.org/module@v1.2.3 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ecosystem, rest, ok := strings.Cut(args[0], ":")
			at := strings.LastIndexByte(rest, '@')
			if !ok || at <= 0 || at == len(rest)-1 {
				return cli.Usagef("%q is not ECOSYSTEM:NAME@VERSION", args[0])
			}
			const op = "check a package"
			if _, c, err := wiring.LoadConfig(); err != nil {
				return err
			} else if !c.Registries.Enabled {
				return cli.Fail(op, errors.New("agents install no packages, because registries.enabled is false"), "set it to true in config.json")
			}
			return withHost(cmd, op, func(h *packages.Host) error {
				c, err := h.Check(cmd.Context(), ecosystem, rest[:at], rest[at+1:])
				if err != nil {
					return err
				}
				return printChecked(cmd, c, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printChecked prints what was found out.
func printChecked(cmd *cobra.Command, c *packages.Checked, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		return cli.PrintJSON(out, map[string]any{
			"ecosystem": c.Facts.Ecosystem, "name": c.Facts.Name, "version": c.Facts.Version, "published": c.Facts.Published,
			"scripts": c.Facts.Scripts, "sha256": c.SHA256, "bytes": c.Bytes, "then": c.Verdict.Then, "rule": c.Verdict.Rule, "why": c.Verdict.Text,
		})
	}
	for _, l := range c.Lines {
		fmt.Fprintln(out, text.Drawable(l.Text))
	}
	why := ""
	if c.Verdict.Rule != "" {
		why = " (" + c.Verdict.Rule + "): " + c.Verdict.Text
	}
	_, err := fmt.Fprintln(out, text.Drawable(string(c.Verdict.Then)+why))
	return err
}

func gcCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "gc",
		Short: "Shrink the store of downloaded packages",
		Long: `Remove the least recently used packages from the store of downloaded packages, until it is
no larger than cacheGb in config.json. Removed packages are downloaded again when needed.`,
		Example: `  ironcurtain-mux registry gc`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withHost(cmd, "shrink the store of packages", func(h *packages.Host) error {
				removed, left, err := h.Shrink()
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %d MB; %d MB are left\n", removed>>20, left>>20)
				}
				return err
			})
		},
	}
}

// withHost opens the package registries, also while a daemon has them open.
func withHost(cmd *cobra.Command, op string, f func(*packages.Host) error) error {
	p, c, err := wiring.LoadConfig()
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	sources, _, err := p.PackageSources(cmd.Context(), c)
	if err != nil {
		return cli.Fail(op, err, "")
	}
	h, err := p.OpenPackages(cmd.Context(), c, wiring.PackageUse{Sources: sources, Aside: true}, log)
	if err != nil {
		return cli.Fail(op, err, "")
	}
	err = f(h)
	if closed := h.Close(); err == nil {
		err = closed
	}
	return cli.Fail(op, err, "")
}
