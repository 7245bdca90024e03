package compile

import (
	"encoding/json"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// The schemas of the answers use only the part of JSON Schema that every provider
// supports: objects without additional members, in which all members are required and an
// absent one is null.

var textSchema = map[string]any{"type": "string"}

func object(members map[string]any, order ...string) map[string]any {
	return map[string]any{"type": "object", "properties": members, "required": order, "additionalProperties": false}
}

func array(of map[string]any) map[string]any { return map[string]any{"type": "array", "items": of} }

func among(words ...string) map[string]any { return map[string]any{"type": "string", "enum": words} }

func orNull(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
}

var listTypes = among("domains", "emails", "identifiers")

// conditionSchema is the schema of a rule's "if", with all kinds of predicates.
func conditionSchema() map[string]any {
	all, names := map[string]any{}, []string{}
	for _, k := range policy.Kinds() {
		var s map[string]any
		if err := json.Unmarshal([]byte(k.Schema), &s); err != nil {
			panic("policy compile: the schema of " + k.Name + ": " + err.Error())
		}
		if !k.Always {
			s = orNull(s)
		}
		all[k.Name], names = s, append(names, k.Name)
	}
	return object(all, names...)
}

var ruleSchema = object(map[string]any{
	"name": textSchema, "description": textSchema, "principle": textSchema, "if": conditionSchema(), "then": among("allow", "escalate"), "reason": textSchema,
}, "name", "description", "principle", "if", "then", "reason")

var definitionSchema = object(map[string]any{
	"name": textSchema, "type": listTypes, "principle": textSchema, "generationPrompt": textSchema, "requiresMcp": map[string]any{"type": "boolean"},
}, "name", "type", "principle", "generationPrompt", "requiresMcp")

var proposalSchema = object(map[string]any{"rules": array(ruleSchema), "listDefinitions": array(definitionSchema)}, "rules", "listDefinitions")

var valuesSchema = object(map[string]any{"values": array(textSchema)}, "values")

var scenariosSchema = object(map[string]any{
	"scenarios": array(object(map[string]any{
		"description": textSchema, "tool": textSchema, "arguments": textSchema, "expectedDecision": among("allow", "deny", "escalate"),
	}, "description", "tool", "arguments", "expectedDecision")),
}, "scenarios")

var patchSchema = object(map[string]any{
	"operations": array(object(map[string]any{
		"op": among("update", "add", "delete"), "name": textSchema, "after": orNull(textSchema), "rule": orNull(ruleSchema),
	}, "op", "name", "after", "rule")),
	"listDefinitions": array(definitionSchema),
	"corrections": array(object(map[string]any{
		"scenario": map[string]any{"type": "integer"}, "expectedDecision": among("allow", "deny", "escalate"),
	}, "scenario", "expectedDecision")),
}, "operations", "listDefinitions", "corrections")
