package doctor

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// checkLimit is how long one check may take.
const checkLimit = 20 * time.Second

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // "ok", "warn" or "fail"
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
	Millis int64  `json:"ms"`
}

func ok(format string, args ...any) finding {
	return finding{Status: "ok", Detail: fmt.Sprintf(format, args...)}
}

func warn(remedy, format string, args ...any) finding {
	return finding{Status: "warn", Detail: fmt.Sprintf(format, args...), Remedy: remedy}
}

func bad(remedy, format string, args ...any) finding {
	return finding{Status: "fail", Detail: fmt.Sprintf(format, args...), Remedy: remedy}
}

// check is one prerequisite.
type check struct {
	name string
	run  func(context.Context) finding
}

// Command runs the check of every prerequisite.
func Command() *cobra.Command {
	var asJSON bool
	var named wiring.EngineFlag
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check every prerequisite, each with its remedy",
		Long: `Check every prerequisite, each with its remedy. A running daemon must answer and run this
program. doctor also counts crashes of daemons, and checks whether the daemon survives your
logout. Exits 1 only when a check fails; a warning is not a failure.`,
		Example: "  ironcurtain-mux doctor\n  ironcurtain-mux doctor --json | jq '.checks[] | select(.status != \"ok\")'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			p = named.In(p)
			e := newEngine(cmd.Context(), p)
			found := examine(cmd.Context(), doctorChecks(p, e))
			e.close(cmd.Context())
			if asJSON {
				err = cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"checks": found})
			} else {
				err = printFindings(cmd.OutOrStdout(), found)
			}
			for _, f := range found {
				if f.Status == "fail" {
					return cli.ErrSilent
				}
			}
			return err
		},
	}
	named.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// examine runs the checks in parallel and returns their findings in order.
func examine(ctx context.Context, checks []check) []finding {
	found := make([]finding, len(checks))
	var work sync.WaitGroup
	for i, c := range checks {
		work.Go(func() {
			limited, cancel := context.WithTimeout(ctx, checkLimit)
			defer cancel()
			began := time.Now()
			f := c.run(limited)
			f.Check, f.Millis = c.name, time.Since(began).Milliseconds()
			found[i] = f
		})
	}
	work.Wait()
	return found
}

func printFindings(w io.Writer, found []finding) error {
	sign := map[string]string{"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
	for _, f := range found {
		if _, err := fmt.Fprintf(w, "%s  %-12s  %s  (%d ms)\n", sign[f.Status], f.Check, f.Detail, f.Millis); err != nil {
			return err
		}
		if f.Remedy != "" {
			if _, err := fmt.Fprintf(w, "                    -> %s\n", f.Remedy); err != nil {
				return err
			}
		}
	}
	return nil
}
