package registries

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/decisions"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

func logCommand() *cobra.Command {
	var refused, asJSON bool
	cmd := &cobra.Command{
		Use:   "log [FILE|SESSION]",
		Short: "List the packages that an agent got, and those that were refused",
		Long: `Read the audit logs of all sessions, or one log, named by its file or by the beginning of a
session's id. Print one line for each package that an agent got, with the SHA-256 of its
bytes, and one for each refused request.`,
		Example: `  ironcurtain-mux registry log
  ironcurtain-mux registry log --refused
  ironcurtain-mux registry log --json 769679a9`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "list packages"
			paths, err := decisions.AuditFiles(cmd.Context(), args)
			if err != nil {
				return err
			}
			all, err := deliveries(paths, refused)
			switch {
			case err != nil:
			case asJSON:
				for _, d := range all {
					err = errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), d))
				}
			case len(all) == 0:
				fmt.Fprintln(cmd.ErrOrStderr(), "ironcurtain-mux: no package was asked for")
			default:
				err = printDelivered(cmd.OutOrStdout(), all)
			}
			return cli.Fail(op, err, "")
		},
	}
	cmd.Flags().BoolVar(&refused, "refused", false, "only what was refused")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// delivered is a delivered artifact or a refused request, from a record.
type delivered struct {
	Time     time.Time      `json:"time"`
	Session  string         `json:"session"`
	Decision audit.Decision `json:"decision"`
	Refused  bool           `json:"refused"`
	Kind     string         `json:"ecosystem"`
	Name     string         `json:"name"`
	Version  string         `json:"version,omitempty"`
	Path     string         `json:"path"`
	SHA256   string         `json:"sha256,omitempty"`
	Bytes    int64          `json:"bytes,omitempty"`
	Rule     string         `json:"rule,omitempty"`
	Why      string         `json:"why,omitempty"`
}

// deliveries reads logs, and returns their deliveries and refusals ordered by time.
func deliveries(paths []string, refused bool) ([]delivered, error) {
	var all []delivered
	for _, path := range paths {
		err := audit.Read(path, func(l audit.Line) error {
			if d, is := deliveryOf(l); is && (!refused || d.Refused) {
				all = append(all, d)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b delivered) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// deliveryOf reads a record, and reports whether it is about a delivery or a refusal.
func deliveryOf(l audit.Line) (delivered, bool) {
	detail := func(name string) string {
		value, _ := l.Detail[name].(string)
		return value
	}
	size, _ := l.Detail["bytes"].(float64)
	d := delivered{
		Time: l.Time, Session: l.Session, Decision: l.Decision, Kind: detail("ecosystem"), Name: detail("name"), Version: detail("version"),
		Path: detail("path"), SHA256: l.Digest, Bytes: int64(size), Rule: l.Rule, Why: detail("why"),
	}
	switch l.Decision {
	case audit.Allow, audit.EscalatedApproved:
		return d, l.Plane == audit.PlanePackage && l.Tool == "artifact" && l.Digest != ""
	case audit.Deny, audit.Failed, audit.EscalatedDenied, audit.EscalatedExpired, audit.EscalatedWithdrawn:
		d.Refused = true
		return d, l.Plane == audit.PlanePackage && d.Path != ""
	default:
		return d, false
	}
}

// printDelivered lists them as a table.
func printDelivered(w io.Writer, all []delivered) error {
	var rows [][]string
	for _, d := range all {
		name := cmp.Or(d.Name, d.Path)
		if d.Version != "" {
			name += "@" + d.Version
		}
		row := []string{
			d.Time.Local().Format(time.DateTime), d.Session[:min(8, len(d.Session))], string(d.Decision), d.Kind, name,
			fmt.Sprint(d.Bytes), d.SHA256[:min(12, len(d.SHA256))], cmp.Or(d.Why, d.Rule),
		}
		for i, cell := range row {
			row[i] = text.Drawable(cell)
		}
		rows = append(rows, row)
	}
	return cli.PrintTable(w, []string{"TIME", "SESSION", "DECISION", "KIND", "PACKAGE", "BYTES", "SHA-256", "WHY"}, rows)
}
