package calls

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// Whatever the table does not allow a connection that only sees, no view that only sees can ask.
func TestAReadOnlyAPI(t *testing.T) {
	api := reflect.ValueOf(ReadOnly(struct{ broker.API }{}))
	methods := reflect.TypeFor[broker.API]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if slices.Contains(table[name].rights, wire.See) || name == "Attach" {
			continue
		}
		m := api.MethodByName(name)
		in := []reflect.Value{reflect.ValueOf(t.Context())}
		for n := 1; n < m.Type().NumIn(); n++ {
			in = append(in, reflect.Zero(m.Type().In(n)))
		}
		out := m.Call(in)
		if err, _ := out[len(out)-1].Interface().(error); err == nil || !strings.Contains(err.Error(), "may not do that") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
