package compile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// listTokens bounds the answer with a list's values.
const listTokens = 8192

// Resolve asks the model for the values of a list. Values that a person added to or
// removed from the list before are kept.
func Resolve(ctx context.Context, m Model, def policy.ListDefinition, before policy.List, now time.Time) (policy.List, error) {
	if def.RequiresMCP {
		return policy.List{}, fmt.Errorf("only a tool could look up the values of list %s (requiresMcp), and the model gets no tools here; add values with 'policy lists --add %s=VALUE'", def.Name, def.Name)
	}
	user, err := json.Marshal(map[string]string{"name": def.Name, "type": def.Type, "principle": def.Principle, "which": def.Prompt})
	if err != nil {
		return policy.List{}, err
	}
	values, err := ask(ctx, m, Question{
		System: listPrompt, User: "The list, as data:\n" + string(user), Schema: valuesSchema, Name: "values", MaxTokens: listTokens, Shorter: shorterValues,
	}, func(answer string) ([]string, error) { return decodeValues(def.Type, answer) })
	if err != nil {
		return policy.List{}, fmt.Errorf("list %s: %w", def.Name, err)
	}
	return policy.List{
		Values: values, Added: before.Added, Removed: before.Removed,
		ResolvedAt: now.UTC().Format(time.RFC3339), InputHash: listHash(def, m.Name()),
	}, nil
}

// listHash identifies the question by which a list's values were looked up.
func listHash(def policy.ListDefinition, model string) string {
	return hash(promptVersion, listPrompt, def.Name, def.Type, def.Principle, def.Prompt, model)
}

// decodeValues reads the values of a list. It fails if any of them is invalid.
func decodeValues(listType, answer string) ([]string, error) {
	got, err := parse(answer, "values")
	if err != nil {
		return nil, err
	}
	list := got["values"]
	if list.Kind != jsonx.Array || len(list.Items) == 0 || len(list.Items) > maxValues {
		return nil, fmt.Errorf("values is not a list of 1 to %d", maxValues)
	}
	out := make([]string, 0, len(list.Items))
	for i, v := range list.Items {
		if v.Kind != jsonx.String {
			return nil, errors.New("a value is not a string")
		}
		if err := checkValue(listType, v.Text); err != nil {
			return nil, fmt.Errorf("value %d, %q, cannot be on the list: %w", i+1, text.Clip(v.Text, maxName), err)
		}
		if !slices.Contains(out, v.Text) {
			out = append(out, v.Text)
		}
	}
	return out, nil
}
