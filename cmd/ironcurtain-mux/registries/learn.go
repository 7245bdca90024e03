package registries

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

func learnCommand() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Ask the tools of this machine for their package registries",
		Long: `Ask npm, yarn, pip, uv, go, cargo and apt of this machine which package registries they
use, and show how these differ from the stored ones and from config.json. The tools run
in an empty directory, so that no project influences the result. The stored registries
stay in use until you store others with --write: a changed configuration of a tool alone
changes no registry.

Logins are not stored, only their places. They are read when they are needed, and are
sent only to their own registry.`,
		Example: `  ironcurtain-mux registry learn
  ironcurtain-mux registry learn --write    # agents of new tabs use what was learned`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Fail("learn package registries", learnNow(cmd, write), "")
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "store what was learned")
	return cmd
}

// learnNow asks the tools, shows their registries, and stores these on request.
func learnNow(cmd *cobra.Command, write bool) error {
	p, c, err := wiring.LoadConfig()
	if err != nil {
		return err
	}
	out, complain := cmd.OutOrStdout(), func(what string) {
		fmt.Fprintln(cmd.ErrOrStderr(), "ironcurtain-mux: "+text.Drawable(what))
	}
	stored, known, err := learn.Load(p.RegistriesFile())
	if err != nil && !write {
		return err
	}
	if err != nil { // a damaged file is replaced
		complain(cli.OnOneLine(err).Error())
	}
	learned, err := p.Learn(cmd.Context(), c)
	if err != nil {
		return err
	}
	for _, note := range learned.Notes {
		complain(note)
	}
	if err := printSources(out, learned.Sources); err != nil {
		return err
	}
	changed := printStored(out, stored, known, learned.Sources)
	printConfigured(out, c.Registries.Sources, learned.Sources)
	if !write {
		if changed {
			fmt.Fprintln(out, "\n'ironcurtain-mux registry learn --write' stores what was learned.")
		}
		return nil
	}
	if err := learn.Save(p.RegistriesFile(), learned.Sources); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "\nStored in "+p.Shorten(p.RegistriesFile())+".")
	return err
}

// printSources lists registries as a table.
func printSources(w io.Writer, sources []learn.Source) error {
	if len(sources) == 0 {
		_, err := fmt.Fprintln(w, "no tool of this machine names a package registry")
		return err
	}
	var rows [][]string
	for _, s := range sources {
		row := []string{s.Ecosystem, address(s), s.From, strings.Join(more(s), "; ")}
		for i, cell := range row {
			row[i] = text.Drawable(cell)
		}
		rows = append(rows, row)
	}
	return cli.PrintTable(w, []string{"KIND", "REGISTRY", "NAMED BY", "MORE"}, rows)
}

// address names a source in one word.
func address(s learn.Source) string { return cmp.Or(s.URL, "(none)") }

// more lists what else is known about a source.
func more(s learn.Source) []string {
	var all []string
	for _, m := range []struct {
		name   string
		values []string
	}{
		{"for", s.Scopes}, {"also", s.Aliases}, {"packages at", s.Artifacts}, {"verified with", s.Keys},
	} {
		if len(m.values) > 0 {
			all = append(all, m.name+" "+strings.Join(m.values, " "))
		}
	}
	if s.Credential != "" {
		all = append(all, "login in "+s.Credential)
	}
	if s.Private {
		all = append(all, "private")
	}
	return all
}

// printStored compares with what was stored, and reports whether it differs.
func printStored(w io.Writer, stored []learn.Source, known bool, learned []learn.Source) bool {
	differences := learn.Differences(stored, learned)
	switch {
	case !known:
		fmt.Fprintln(w, "\nNothing was stored before.")
		return true
	case len(differences) == 0:
		fmt.Fprintln(w, "\nThe stored registries are the same.")
		return false
	}
	fmt.Fprintln(w, "\nCompared with the stored registries:")
	printDifferences(w, differences)
	return true
}

// printConfigured compares with config.json, for the ecosystems that have sources there.
func printConfigured(w io.Writer, configured, learned []learn.Source) {
	if len(configured) == 0 {
		return
	}
	var there []learn.Source
	for _, s := range learned {
		if slices.ContainsFunc(configured, func(c learn.Source) bool { return c.Ecosystem == s.Ecosystem }) {
			there = append(there, s)
		}
	}
	differences := learn.Differences(learn.Effective(configured, nil), there)
	if len(differences) == 0 {
		fmt.Fprintln(w, "\nregistries.sources in config.json is the same.")
		return
	}
	fmt.Fprintln(w, "\nCompared with registries.sources in config.json, which is in use:")
	printDifferences(w, differences)
}

func printDifferences(w io.Writer, differences []learn.Difference) {
	for _, d := range differences {
		fmt.Fprintf(w, "%c %s %s", d.Sign, d.Source.Ecosystem, text.Drawable(address(d.Source)))
		if d.Source.Name != "" {
			fmt.Fprint(w, " ", text.Drawable(d.Source.Name))
		}
		fmt.Fprintln(w)
		for _, c := range d.Changes {
			fmt.Fprintln(w, "    "+text.Drawable(c))
		}
	}
}
