package policies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/compile"
)

// listFlags say what to do with lists.
type listFlags struct {
	modelFlags
	policy               string
	refresh, add, remove []string
}

// policyListsCommand shows and changes the lists of a compiled policy.
func policyListsCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "lists",
		Short: "Show, refresh or edit the lists that a policy refers to",
		Long: `Print the lists of a compiled policy, each value with its origin. Values that you add
or remove by hand survive a refresh. A change is refused if it would let through a
call that must never be allowed.`,
		Example: `  ironcurtain-mux policy lists
  ironcurtain-mux policy lists --add go-docs=go.dev --remove go-docs=example.com
  ironcurtain-mux policy lists --policy ~/policies/strict --refresh all`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.policy, "policy", "", "`directory` of the policy (default the one in config.json, else ~/.ironcurtain/generated)")
	fl.StringArrayVar(&f.refresh, "refresh", nil, "look up this `list` again, or all; may be repeated")
	fl.StringArrayVar(&f.add, "add", nil, "put a value on a list, as `NAME=VALUE`; may be repeated")
	fl.StringArrayVar(&f.remove, "remove", nil, "remove a value from a list, as `NAME=VALUE`; may be repeated")
	f.register(cmd)
	return cmd
}

const opLists = "policy lists"

func (f *listFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	p, c, err := wiring.LoadConfig()
	if err != nil {
		return err
	}
	dir := f.directory(p, c)
	loaded, err := wiring.LoadPolicyDir(dir)
	if err != nil {
		return cli.Fail(opLists, err, "")
	}
	l, err := compile.ReadLists(dir)
	if err != nil {
		return cli.Fail(opLists, err, "")
	}
	if len(f.refresh)+len(f.add)+len(f.remove) > 0 {
		if err := f.change(ctx, c, l, stderr); err != nil {
			return err
		}
		if err := try(p, l, loaded.Annotations, c, dir); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return cli.Fail(opLists, ctx.Err(), "")
		}
		if err := l.Write(time.Now()); err != nil {
			return cli.Fail("write the lists", cli.OnOneLine(err), "make the directory writable, and run it again")
		}
	}
	return cli.Fail(opLists, printLists(stdout, l), "")
}

// directory returns the directory of the policy that has the lists.
func (f *listFlags) directory(p wiring.Paths, c config.Config) string {
	switch {
	case f.policy != "":
		return p.Whole(f.policy)
	case c.Policy != "":
		return c.Policy
	}
	return generated(p)
}

// change changes the lists in memory as the flags say: first it looks up lists, then it
// adds and removes values.
func (f *listFlags) change(ctx context.Context, c config.Config, l *compile.Lists, stderr io.Writer) error {
	if err := f.lookUp(ctx, c, l, stderr); err != nil {
		return err
	}
	for _, edit := range []struct {
		flag  string
		pairs []string
		apply func(policy.ListDefinition, policy.List, string) (policy.List, error)
	}{{"--add", f.add, compile.Add}, {"--remove", f.remove, compile.Remove}} {
		for _, pair := range edit.pairs {
			name, value, ok := strings.Cut(pair, "=")
			if !ok || name == "" || value == "" {
				return cli.Usagef("%s %q is not NAME=VALUE", edit.flag, pair)
			}
			def, err := l.Definition(strings.TrimPrefix(name, "@"))
			if err != nil {
				return cli.Fail(opLists, err, "'ironcurtain-mux policy lists' prints the lists there are")
			}
			if l.Values[def.Name], err = edit.apply(def, l.Values[def.Name], value); err != nil {
				return cli.Fail(opLists, err, "nothing was changed")
			}
		}
	}
	return nil
}

// lookUp asks a model for the values of lists again.
func (f *listFlags) lookUp(ctx context.Context, c config.Config, l *compile.Lists, stderr io.Writer) error {
	var wanted []policy.ListDefinition
	for _, name := range f.refresh {
		if name == "all" {
			wanted = l.Definitions
			break
		}
		def, err := l.Definition(strings.TrimPrefix(name, "@"))
		if err != nil {
			return cli.Fail(opLists, err, "'ironcurtain-mux policy lists' prints the lists there are")
		}
		wanted = append(wanted, def)
	}
	if len(wanted) == 0 {
		return nil
	}
	model, err := f.find(c)
	if err != nil {
		return err
	}
	for _, def := range wanted {
		fmt.Fprintf(stderr, "asking %s for list %s\n", model.Name(), def.Name)
		if l.Values[def.Name], err = compile.Resolve(ctx, model, def, l.Values[def.Name], time.Now()); err != nil {
			return cli.Fail("look up the lists", cli.OnOneLine(err), "nothing was changed")
		}
	}
	return nil
}

// try returns an error if the lists would allow a call that must never be allowed.
func try(p wiring.Paths, l *compile.Lists, a *policy.Annotations, c config.Config, policyDir string) error {
	w, remove, err := temporaryWorld("", machine(p, c, policyDir))
	if err != nil {
		return cli.Fail(opLists, err, "")
	}
	defer remove()
	problems, err := l.Forbidden(w, a)
	if err == nil && len(problems) > 0 {
		err = errors.New("with these values the policy would allow " + problems[0])
	}
	return cli.Fail(opLists, err, "nothing was changed")
}

func printLists(w io.Writer, l *compile.Lists) error {
	var b strings.Builder
	if len(l.Definitions) == 0 {
		b.WriteString("the policy refers to no lists\n")
	}
	for i, def := range l.Definitions {
		if i > 0 {
			b.WriteString("\n")
		}
		list, known := l.Values[def.Name]
		at := "not looked up: rules that use it match nothing"
		if known && list.ResolvedAt != "" {
			at = "looked up " + list.ResolvedAt
		}
		fmt.Fprintf(&b, "@%s (%s), %d values, %s\n  %s\n", def.Name, def.Type, len(list.Effective()), text.ASCII(at), text.ASCII(def.Prompt))
		for _, v := range slices.Concat(list.Values, list.Added) {
			from := "looked up"
			switch {
			case slices.Contains(list.Removed, v):
				from = "removed by hand"
			case slices.Contains(list.Added, v):
				from = "added by hand"
			}
			fmt.Fprintf(&b, "    %-30s %s\n", text.ASCII(v), from)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
