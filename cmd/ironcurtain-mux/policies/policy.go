package policies

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Command groups the commands that make policies and judge calls offline. annotate is given by
// the caller, because it starts a tool server.
func Command(annotate *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Compile policies, judge calls offline and say why",
		Long: `Compile plain English into a policy, and judge tool calls exactly as a session would,
without running anything. Without --policy or --annotations the shipped ones are used.`,
		Example: `  ironcurtain-mux policy compile
  ironcurtain-mux policy check --sandbox ~/project < calls.jsonl
  ironcurtain-mux policy explain --sandbox ~/project filesystem read_file '{"path":"/etc/hosts"}'
  ironcurtain-mux policy diff --sandbox ~/project --with new-policy.json < calls.jsonl`,
	}
	cmd.AddCommand(annotate, policyCompileCommand(), policyListsCommand(), policyCheckCommand(), policyExplainCommand(), policyDiffCommand(), policyTestCommand(), policyShowCommand())
	return cmd
}

// Flags are the files and directories by which calls are judged.
type Flags struct {
	Policy, Annotations, Lists string
	Sandbox, Mount, home       string
	protect, unprotect         []string
	MaxCall                    int
	gitFixed                   []string
}

// Register adds the flags to a command.
func (f *Flags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Policy, "policy", "", "compiled policy, a file or a directory with one; default: the shipped policy")
	flags.StringVar(&f.Annotations, "annotations", "", "tool annotations; default: the shipped ones")
	flags.StringVar(&f.Lists, "lists", "", "resolved dynamic lists")
	flags.StringVar(&f.Sandbox, "sandbox", "", "the session's directory on this machine (required)")
	flags.StringVar(&f.Mount, "mount", "/workspace", "where the agent sees the sandbox; empty: under its own path")
	flags.StringVar(&f.home, "home", "", "the directory that ~ means; default: your home directory")
	flags.StringArrayVar(&f.protect, "protect", nil, "a path that no call may touch; may be repeated")
	flags.StringArrayVar(&f.unprotect, "unprotect", nil, "a directory inside a protected one that is open; may be repeated")
	flags.IntVar(&f.MaxCall, "max-call", 4<<20, "largest call, in bytes")
	flags.StringArrayVar(&f.gitFixed, "git-fixed", nil, "a git variable that the git server sets itself, such as core.hooksPath; may be repeated")
	_ = cmd.MarkFlagRequired("sandbox")
}

// Engine builds the engine that the flags describe.
func (f *Flags) Engine(op string) (*policy.Engine, error) {
	if f.MaxCall < 1 {
		return nil, cli.Usagef("--max-call must be at least 1")
	}
	if info, err := os.Stat(f.Sandbox); err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is not a directory", f.Sandbox)
		}
		return nil, cli.Fail(op, err, "--sandbox names the directory that the agent works in")
	}
	c, err := f.Config(op)
	if err != nil {
		return nil, err
	}
	e, err := policy.New(c)
	return e, cli.Fail(op, err, "check the paths on the command line")
}

// Config reads the files that the flags name. Its errors name the operation op.
func (f *Flags) Config(op string) (policy.Config, error) {
	c := policy.Config{
		Sandbox: wiring.AbsolutePath(f.Sandbox), Mount: f.Mount, Home: wiring.AbsolutePath(f.home),
		MaxCall: f.MaxCall, GitFixed: f.gitFixed,
	}
	if c.Home == "" {
		c.Home, _ = os.UserHomeDir() // without a home directory, "~" is denied
	}
	for _, p := range f.protect {
		c.Protected = append(c.Protected, wiring.AbsolutePath(p))
	}
	for _, p := range f.unprotect {
		c.Unprotected = append(c.Unprotected, wiring.AbsolutePath(p))
	}
	c.Policy, c.Annotations = policy.Default()
	var err error
	if f.Policy != "" {
		if c.Policy, c.Lists, err = wiring.LoadPolicy(f.Policy); err != nil {
			return c, cli.Fail(op, err, "")
		}
	}
	if f.Annotations != "" {
		if c.Annotations, err = policy.LoadAnnotations(f.Annotations); err != nil {
			return c, cli.Fail(op, err, "")
		}
	}
	if f.Lists != "" {
		if c.Lists, err = policy.LoadLists(f.Lists); err != nil {
			return c, cli.Fail(op, err, "")
		}
	}
	return c, nil
}
