package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// spans are the members that hold a length of time, as JSON pointers in which * stands for any
// name or index, and the unit that their numbers have.
var spans = map[string]time.Duration{
	"/escalationTimeoutSeconds":            time.Second,
	"/awayHours":                           time.Hour,
	"/daemonIdleMinutes":                   time.Minute,
	"/receiptSeconds":                      time.Second,
	"/keepSessionsDays":                    timespan.Day,
	"/budget/minutes":                      time.Minute,
	"/registries/quarantineHours/*":        time.Hour,
	"/registries/rules/*/youngerThanHours": time.Hour,
	"/agents/*/submit/pauseMillis":         time.Millisecond,
}

// readSpans replaces each length of time that is written as text, such as "2 hours", by its number
// of units. The error comes with the place of the text.
func readSpans(v *jsonx.Value) (field string, err error) {
	for path, unit := range spans {
		if field, err := readSpan(v, strings.Split(path[1:], "/"), unit); err != nil {
			return field, err
		}
	}
	return "", nil
}

// readSpan is readSpans for the members below v that path names.
func readSpan(v *jsonx.Value, path []string, unit time.Duration) (field string, err error) {
	if len(path) == 0 {
		if v.Kind != jsonx.String {
			return "", nil
		}
		d, err := timespan.Parse(v.Text)
		if err == nil && d%unit != 0 {
			err = fmt.Errorf("%.40q is no whole multiple of %s", v.Text, timespan.String(unit))
		}
		if err == nil {
			*v = jsonx.Value{Kind: jsonx.Number, Text: strconv.FormatInt(int64(d/unit), 10)}
		}
		return "", err
	}
	below := func(name string, one *jsonx.Value) bool {
		if path[0] == "*" || path[0] == name {
			field, err = readSpan(one, path[1:], unit)
			field = "/" + name + field
		}
		return err == nil
	}
	for i := range v.Members {
		if !below(v.Members[i].Name, &v.Members[i].Value) {
			return field, err
		}
	}
	for i := range v.Items {
		if !below(strconv.Itoa(i), &v.Items[i]) {
			return field, err
		}
	}
	return "", nil
}
