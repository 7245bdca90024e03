package calls

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// filled returns a value in which every member is set that travels.
func filled(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t {
	case timeType:
		v.Set(reflect.ValueOf(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
		return v
	case rawType:
		v.SetBytes([]byte(`{"a":1}`))
		return v
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(7)
	case reflect.Uint64, reflect.Uint32, reflect.Uint8:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf("any"))
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(filled(t.Key()), filled(t.Elem()))
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				v.Field(i).Set(filled(f.Type))
			}
		}
	default:
		panic("a " + t.String() + " does not travel")
	}
	return v
}

// Each method of broker.Calls has its rights and its row, and takes everything there and back
// that its parameters and its result contain.
func TestEveryMethodTravels(t *testing.T) {
	api := reflect.TypeFor[broker.Calls]()
	methods := map[string]bool{"Subscribe": true} // which has tests of its own
	last, end := pair(t)
	defer end.Close()
	inner := NewClient(last)
	defer func() { _ = inner.Disconnect() }()
	me := broker.Client{ID: "me"}
	outer := reflect.ValueOf(asked(t, Served{Broker: inner, Right: wire.Operate, Client: me}))
	for i := range api.NumMethod() {
		m := api.Method(i)
		methods[m.Name] = true
		r, known := table[m.Name]
		if !known || len(r.rights) == 0 || r.params != m.Type.NumIn()-1 {
			t.Errorf("%s: its row is %v", m.Name, r)
			continue
		}
		if m.Name == "Subscribe" {
			continue
		}
		in := []reflect.Value{reflect.ValueOf(t.Context())}
		var want []json.RawMessage
		for j := 1; j < m.Type.NumIn(); j++ {
			p := filled(m.Type.In(j))
			in = append(in, p)
			for name, value := range map[string]any{"By": byCommand, "Client": me} { // the server says that itself
				if m.Name == "Decide" || m.Name == "Revoke" {
					p.FieldByName(name).Set(reflect.ValueOf(value))
				}
			}
			text, err := json.Marshal(p.Interface())
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, text)
		}
		result := reflect.ValueOf(struct{}{})
		if m.Type.NumOut() == 2 {
			result = filled(m.Type.Out(0))
		}
		got := make(chan []reflect.Value, 1)
		go func() { got <- outer.MethodByName(m.Name).Call(in) }()
		text, err := end.ReceiveText()
		if err != nil {
			t.Fatal(m.Name, err)
		}
		var arrived request
		if err := json.Unmarshal(text, &arrived); err != nil || arrived.Method != m.Name || !reflect.DeepEqual(arrived.Params, want) {
			t.Errorf("%s: %s arrives, want %s, %v", m.Name, text, want, err)
		}
		answered, err := json.Marshal(result.Interface())
		if err != nil {
			t.Fatal(err)
		}
		text, err = json.Marshal(answer{ID: arrived.ID, Result: answered})
		if err != nil {
			t.Fatal(err)
		}
		say(t, end, string(text))
		out := <-got
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if len(out) == 2 && !reflect.DeepEqual(out[0].Interface(), result.Interface()) {
			t.Errorf("%s returns %+v, want %+v", m.Name, out[0], result)
		}
	}
	for name := range table {
		if !methods[name] {
			t.Errorf("the table has %s, which is no method", name)
		}
	}
}

// An event takes everything along.
func TestAnEventTravels(t *testing.T) {
	ev := filled(reflect.TypeFor[broker.Event]()).Interface().(broker.Event)
	events := make(chan broker.Event, 1)
	events <- ev
	c := asked(t, Served{Broker: &stub{subscribe: publishing(events)}, Right: wire.See})
	ctx, cancel := context.WithCancel(t.Context())
	got, err := c.Subscribe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if first := <-got; !reflect.DeepEqual(first, ev) {
		t.Errorf("%+v, want %+v", first, ev)
	}
	cancel()
	for range got {
	}
}
