package policies

import (
	"bufio"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

func policyCheckCommand() *cobra.Command {
	var flags Flags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Judge the calls on standard input, one answer a line",
		Long: `Read one call a line from standard input and print one answer a line, in the same
order. A call is {"id":…,"server":…,"tool":…,"arguments":{…}}. The exit code says
whether the calls could be judged, and not how.`,
		Example: `  ironcurtain-mux policy check --sandbox ~/project < calls.jsonl
  ironcurtain-mux policy check --policy compiled-policy.json --annotations tool-annotations.json \
      --lists dynamic-lists.json --sandbox ~/project --protect ~/.ssh --protect ~/.ironcurtain < calls.jsonl
  echo '{"id":1,"server":"git","tool":"git_push","arguments":{}}' | ironcurtain-mux policy check --sandbox .`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := flags.Engine("policy check")
			if err != nil {
				return err
			}
			return eachLine(cmd.InOrStdin(), cmd.OutOrStdout(), flags.MaxCall, func(line []byte, tooLong bool) []byte {
				if tooLong {
					return e.AnswerTooLong(line).Line()
				}
				return e.AnswerLine(line).Line()
			})
		},
	}
	flags.Register(cmd)
	cmd.Flags().Bool("jsonl", true, "print one JSON object a line; there is no other form")
	return cmd
}

// eachLine calls f for every line of in and writes its result as a line of out, or nothing
// for nil. It keeps only the beginning of a line longer than limit. It flushes out when no
// more input is buffered.
func eachLine(in io.Reader, out io.Writer, limit int, f func(line []byte, tooLong bool) []byte) error {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriter(out)
	for {
		line, tooLong, err := readLine(r, limit)
		if err != nil && !errors.Is(err, io.EOF) {
			return cli.Fail("read calls", err, "calls are read from standard input")
		}
		end := errors.Is(err, io.EOF)
		if !end || len(line) > 0 {
			if answer := f(line, tooLong); answer != nil {
				_, _ = w.Write(append(answer, '\n'))
			}
		}
		if end || r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return cli.Fail("write answers", err, "")
			}
		}
		if end {
			return nil
		}
	}
}

// readLine reads one line without its end. It drops everything beyond the limit.
func readLine(r *bufio.Reader, limit int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if n := len(part); n > 0 && part[n-1] == '\n' {
			part = part[:n-1]
		}
		if keep := limit + 1 - len(line); len(part) > keep {
			part, tooLong = part[:keep], true
		}
		line = append(line, part...)
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong || len(line) > limit, err
		}
	}
}

// callFrom reads one call of a log.
func callFrom(line []byte) (policy.Call, string, bool) {
	id, c, ok := policy.ParseCall(line)
	return c, string(id), ok
}
