// Package timespan reads and writes spans of time as people write them: "90s", "1h30m", "3d",
// "2 hours", "1 day and 12 hours".
package timespan

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Max is the longest span that Parse accepts: about a hundred years.
const Max = 100 * 365 * Day

// Spans that package time does not name.
const (
	Day  = 24 * time.Hour
	Week = 7 * Day
)

// units are the units of a span, by every name that they have.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": Day, "day": Day, "days": Day,
	"w": Week, "week": Week, "weeks": Week,
}

// Parse reads a span of time: numbers, each with its unit. Only 0 needs no unit.
func Parse(s string) (time.Duration, error) {
	rest := strings.TrimSpace(s)
	if rest == "0" {
		return 0, nil
	}
	total, parts := new(big.Rat), 0
	for ; rest != ""; parts++ {
		if parts > 0 {
			rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(rest, " ,"), "and "), " ")
		}
		number, after := span(rest, "0123456789.")
		unit, next := span(strings.TrimLeft(after, " "), letters)
		n, ok := new(big.Rat).SetString(number)
		size, known := units[strings.ToLower(unit)]
		if !ok || !known || len(number) > 20 {
			return 0, wrong(s)
		}
		total.Add(total, n.Mul(n, new(big.Rat).SetInt64(int64(size))))
		rest = next
	}
	if parts == 0 {
		return 0, wrong(s)
	}
	if total.Cmp(new(big.Rat).SetInt64(int64(Max))) > 0 {
		return 0, fmt.Errorf("%.40q is longer than %s", s, String(Max))
	}
	return time.Duration(new(big.Int).Quo(total.Num(), total.Denom()).Int64()), nil
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// span splits s after its leading bytes that are in set.
func span(s, set string) (in, rest string) {
	rest = strings.TrimLeft(s, set)
	return s[:len(s)-len(rest)], rest
}

func wrong(s string) error {
	return fault.New("write it like 90s, 30m, 2 hours, 1h30m or 3d", "%.40q is not a length of time", s)
}

// String formats a span so that Parse can read it, without units that are zero: "1h30m", "3d".
func String(d time.Duration) string {
	if d < 0 {
		return "-" + String(-max(d, -math.MaxInt64)) // the lowest number has no counterpart
	}
	var b strings.Builder
	if days := d / Day; days > 0 {
		fmt.Fprintf(&b, "%dd", days)
		d -= days * Day
	}
	if d > 0 || b.Len() == 0 {
		clock := d.String()
		if strings.HasSuffix(clock, "m0s") {
			clock = strings.TrimSuffix(clock, "0s")
		}
		if strings.HasSuffix(clock, "h0m") {
			clock = strings.TrimSuffix(clock, "0m")
		}
		b.WriteString(clock)
	}
	return b.String()
}

// Flag is a command-line flag for a span of time.
type Flag struct{ To *time.Duration }

// Set reads the flag's value.
func (f Flag) Set(s string) (err error) {
	d, err := Parse(s)
	if err != nil {
		return fmt.Errorf("%w; %s", err, fault.Hint(err)) // the hint of a flag's error is its help
	}
	*f.To = d
	return nil
}

// String returns the flag's value.
func (f Flag) String() string {
	if f.To == nil || *f.To == 0 {
		return ""
	}
	return String(*f.To)
}

// Type returns the name of the value in the help.
func (Flag) Type() string { return "time" }
