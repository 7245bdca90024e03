package policies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/compile"
)

// compileFlags say what is compiled and where the result is written.
type compileFlags struct {
	modelFlags
	constitution, output, annotations, sandbox string
	servers                                    []string
	dryRun, force                              bool
}

// policyCompileCommand compiles a constitution into a policy.
func policyCompileCommand() *cobra.Command {
	var f compileFlags
	cmd := &cobra.Command{
		Use:   "compile",
		Short: "Compile a constitution in plain English into a policy",
		Long: `Read what your agents may do, in your own words, and let a model propose rules for
each server. The model decides nothing: its rules must keep fixed limits, and are
tested on calls that the model invents and on calls that must never be allowed. Rules
that fail are repaired, at most three times; a server whose rules still fail gets no
rules. Only then the policy is written. Read the summary: rules within the limits can
still differ from what you meant.

Rules that were compiled from the same input before are tested again without asking
the model.`,
		Example: `  echo 'Agents may read ~/Documents. Ask me before anything else outside the workspace.' > ~/.ironcurtain/constitution.md
  ironcurtain-mux policy compile --dry-run
  ironcurtain-mux policy compile
  ironcurtain-mux --policy ~/.ironcurtain/generated
  ironcurtain-mux policy compile --constitution rules.md --output ~/policies/strict --server filesystem --model openai/gpt-5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.constitution, "constitution", "", "`file` that says what agents may do (default ~/.ironcurtain/constitution.md)")
	fl.StringVar(&f.output, "output", "", "`directory` for the policy (default ~/.ironcurtain/generated)")
	fl.StringVar(&f.annotations, "annotations", "", "tool annotations `file` (default those of the policy in force)")
	fl.StringArrayVar(&f.servers, "server", nil, "compile only this server and keep the others; may be repeated")
	fl.StringVar(&f.sandbox, "sandbox", "", "`directory` to test rules in as the workspace (default a temporary one)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "write nothing")
	fl.BoolVar(&f.force, "force", false, "ask the model again even if the input has not changed")
	f.register(cmd)
	return cmd
}

const opCompile = "compile the policy"

func (f *compileFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	p, c, err := wiring.LoadConfig()
	if err != nil {
		return err
	}
	f.defaults(p)
	o, inForce, err := f.options(p, c, stderr)
	if err != nil {
		return err
	}
	model, err := f.find(c)
	if err != nil {
		return err
	}
	world, remove, err := temporaryWorld(f.sandbox, o.Machine)
	if err != nil {
		return cli.Fail(opCompile, err, "")
	}
	defer remove()
	o.World = world
	result, err := compile.Run(ctx, model, o)
	if err != nil {
		return cli.Fail(opCompile, cli.OnOneLine(err), "nothing was written")
	}
	s := summary{result: result, options: &o, constitution: p.Shorten(f.constitution), model: model.Name()}
	if err := s.print(stdout, inForce); err != nil {
		return cli.Fail(opCompile, err, "nothing was written")
	}
	if f.dryRun {
		_, err := fmt.Fprintln(stdout, "\nnothing was written (--dry-run)")
		return err
	}
	if ctx.Err() != nil {
		return cli.Fail(opCompile, ctx.Err(), "")
	}
	if err := result.Write(f.output, o.Annotations, o.Previous, o.Now); err != nil {
		return cli.Fail("write the policy", cli.OnOneLine(err), "make the directory writable, and run it again")
	}
	_, err = fmt.Fprintf(stdout, "\nwritten to %s\nto use it:  ironcurtain-mux --policy %s\nor always:  \"policy\": %q in %s\n",
		p.Shorten(f.output), p.Shorten(f.output), p.Shorten(f.output), p.Shorten(p.ConfigFile()))
	return err
}

// defaults fills in flags that were not given, and makes paths absolute.
func (f *compileFlags) defaults(p wiring.Paths) {
	if f.constitution == "" {
		f.constitution = filepath.Join(p.Home, "constitution.md")
	}
	if f.output == "" {
		f.output = generated(p)
	}
	for _, path := range []*string{&f.constitution, &f.output, &f.annotations, &f.sandbox} {
		*path = p.Whole(*path)
	}
}

// options reads all inputs of compiling.
func (f *compileFlags) options(p wiring.Paths, c config.Config, stderr io.Writer) (compile.Options, wiring.LoadedPolicy, error) {
	o := compile.Options{Servers: f.servers, Force: f.force, Now: time.Now(), Progress: progressOn(stderr)}
	refuse := func(op string, err error, hint string) (compile.Options, wiring.LoadedPolicy, error) {
		return o, wiring.LoadedPolicy{}, cli.Fail(op, err, hint)
	}
	var err error
	if o.Constitution, err = compile.ReadConstitution(f.constitution); err != nil {
		return refuse("read the constitution", err, "write what your agents may do, in your own words, into that file, or name another with --constitution")
	}
	if f.sandbox != "" {
		if info, err := os.Stat(f.sandbox); err != nil || !info.IsDir() {
			return refuse(opCompile, errors.Join(err, fmt.Errorf("%s is not a directory", f.sandbox)), "--sandbox names the directory to test rules in")
		}
	}
	inForce, err := wiring.LoadPolicyDir(c.Policy)
	if errors.Is(err, fs.ErrNotExist) { // it may be the one that is compiled now
		inForce, err = wiring.LoadPolicyDir("")
	}
	if err != nil {
		return refuse("load the policy in force", err, "")
	}
	o.Annotations = inForce.Annotations
	if f.annotations != "" {
		if o.Annotations, err = policy.LoadAnnotations(f.annotations); err != nil {
			return refuse("load annotations", err, "")
		}
	}
	foreign, err := compile.Foreign(f.output)
	if err != nil {
		return refuse("open the output directory", err, "name an empty or a new directory with --output")
	}
	if len(foreign) > 0 {
		fmt.Fprintf(stderr, "ironcurtain-mux: %s also contains other files, which are not changed: %s\n", p.Shorten(f.output), text.ASCII(strings.Join(foreign, ", ")))
	}
	o.Machine = machine(p, c, f.output)
	if o.Previous, err = compile.ReadPrevious(f.output); err != nil {
		if !f.force {
			return refuse("read what was compiled before", err, "remove it, or ignore it with --force")
		}
		if o.Previous, err = compile.Forget(f.output); err != nil {
			return refuse("read what was compiled before", err, "")
		}
	}
	return o, inForce, nil
}

// temporaryWorld makes the directories in which rules are tested; remove removes them.
func temporaryWorld(sandbox string, m compile.Machine) (w *compile.World, remove func(), err error) {
	dir, err := os.MkdirTemp("", "ironcurtain-policy-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if w, err = compile.NewWorld(dir, sandbox, m); err != nil {
		remove()
	}
	return w, remove, err
}

// generated is the default directory of compiled policies.
func generated(p wiring.Paths) string { return filepath.Join(p.Home, "generated") }

// machine lists the paths of this machine that no rule may open.
func machine(p wiring.Paths, c config.Config, dir string) compile.Machine {
	closed := []string{p.Home, dir}
	for _, name := range []string{".ssh", ".gnupg", ".aws"} {
		closed = append(closed, filepath.Join(p.UserHome, name))
	}
	return compile.Machine{Home: p.UserHome, Protected: slices.Concat(closed, c.Protected)}
}

// progressOn returns a function that writes each step of the work on a line.
func progressOn(w io.Writer) func(server, text string) {
	var mu sync.Mutex
	return func(server, text string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "%s: %s\n", server, strings.ReplaceAll(text, "\n", " "))
	}
}
