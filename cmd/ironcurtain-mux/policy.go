package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// policyCommand groups the commands that make policies and judge calls offline. annotate starts
// a tool server.
func policyCommand(annotate *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Compile policies, judge calls offline and say why",
		Long: `Makes a policy of what you write in plain English, and judges tool calls exactly as
a session would, without running anything. Without --policy or --annotations the
shipped ones are used.`,
		Example: `  ironcurtain-mux policy compile
  ironcurtain-mux policy check --sandbox ~/project < calls.jsonl
  ironcurtain-mux policy explain --sandbox ~/project filesystem read_file '{"path":"/etc/hosts"}'
  ironcurtain-mux policy diff --sandbox ~/project --with new-policy.json < calls.jsonl`,
	}
	cmd.AddCommand(annotate, policyCompileCommand(), policyListsCommand(), policyCheckCommand(), policyExplainCommand(), policyDiffCommand(), policyTestCommand(), policyShowCommand())
	return cmd
}

// policyFlags are the files and directories by which calls are judged.
type policyFlags struct {
	policy, annotations, lists string
	sandbox, mount, home       string
	protect, unprotect         []string
	maxCall                    int
	gitFixed                   []string
}

func (f *policyFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.policy, "policy", "", "compiled policy, a file or a directory with one; default: the shipped policy")
	flags.StringVar(&f.annotations, "annotations", "", "tool annotations; default: the shipped ones")
	flags.StringVar(&f.lists, "lists", "", "resolved dynamic lists")
	flags.StringVar(&f.sandbox, "sandbox", "", "the session's directory on this machine (required)")
	flags.StringVar(&f.mount, "mount", "/workspace", "where the agent sees the sandbox; empty: under its own path")
	flags.StringVar(&f.home, "home", "", "what ~ stands for; default: your home directory")
	flags.StringArrayVar(&f.protect, "protect", nil, "a path that no call may touch; may be repeated")
	flags.StringArrayVar(&f.unprotect, "unprotect", nil, "a directory inside a protected one that is open; may be repeated")
	flags.IntVar(&f.maxCall, "max-call", 4<<20, "largest call, in bytes")
	flags.StringArrayVar(&f.gitFixed, "git-fixed", nil, "a git variable that the git server sets itself, such as core.hooksPath; may be repeated")
	_ = cmd.MarkFlagRequired("sandbox")
}

// engine builds the engine that the flags describe.
func (f *policyFlags) engine(op string) (*policy.Engine, error) {
	if f.maxCall < 1 {
		return nil, usagef("--max-call must be at least 1")
	}
	if info, err := os.Stat(f.sandbox); err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is not a directory", f.sandbox)
		}
		return nil, fail(op, err, "--sandbox names the directory that the agent works in")
	}
	c, err := f.config(op)
	if err != nil {
		return nil, err
	}
	e, err := policy.New(c)
	return e, fail(op, err, "check the paths on the command line")
}

func (f *policyFlags) config(op string) (policy.Config, error) {
	c := policy.Config{
		Sandbox: absolutePath(f.sandbox), Mount: f.mount, Home: absolutePath(f.home),
		MaxCall: f.maxCall, GitFixed: f.gitFixed,
	}
	if c.Home == "" {
		c.Home, _ = os.UserHomeDir() // without one "~" is denied
	}
	for _, p := range f.protect {
		c.Protected = append(c.Protected, absolutePath(p))
	}
	for _, p := range f.unprotect {
		c.Unprotected = append(c.Unprotected, absolutePath(p))
	}
	c.Policy, c.Annotations = policy.Default()
	var err error
	if f.policy != "" {
		if c.Policy, c.Lists, err = loadPolicy(f.policy); err != nil {
			return c, fail(op, err, "")
		}
	}
	if f.annotations != "" {
		if c.Annotations, err = policy.LoadAnnotations(f.annotations); err != nil {
			return c, fail(op, err, "")
		}
	}
	if f.lists != "" {
		if c.Lists, err = policy.LoadLists(f.lists); err != nil {
			return c, fail(op, err, "")
		}
	}
	return c, nil
}
