// A module of its own: what the engine is compared with stays out of the
// product's dependencies.
module github.com/ironcurtain-mux/ironcurtain-mux/policy/bench

go 1.26.0

require (
	github.com/cedar-policy/cedar-go v1.9.0
	github.com/ironcurtain-mux/ironcurtain-mux v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/exp v0.0.0-20231006140011-7918f672742d // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/ironcurtain-mux/ironcurtain-mux => ../..
