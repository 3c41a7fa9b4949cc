package workflow

import (
	"encoding/json"
	"fmt"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// native turns a value of an expression into plain Go data: bool, int64, float64, string, []any, map[string]any or nil.
func native(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		if v > 1<<62 {
			return nil, fmt.Errorf("the number is too large")
		}
		return int64(v), nil
	case types.Double:
		return float64(v), nil
	case types.String:
		return string(v), nil
	case types.Null:
		return nil, nil
	case traits.Mapper:
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			key, ok := k.(types.String)
			if !ok {
				return nil, fmt.Errorf("a key of the map is not a text")
			}
			x, err := native(v.Get(k))
			if err != nil {
				return nil, err
			}
			out[string(key)] = x
		}
		return out, nil
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			x, err := native(it.Next())
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	}
	return nil, fmt.Errorf("a %s has no plain value", v.Type().TypeName())
}

// render writes a native value into a text: texts as they are, nothing for null, lists and maps as JSON with sorted
// keys.
func render(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write value: %w", err)
	}
	return string(raw), nil
}
