package control

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

// FuzzForm: no schema and no values, whoever wrote them, may do more than be refused, and a refusal never repeats a
// value (scenario S3).
func FuzzForm(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"a":1}`},
		{`{"type":"object","required":["a"]}`, `{}`},
		{`{"enum":["secret-value"]}`, `"other-value"`},
		{`{"$ref":"#"}`, `1`},
		{`{"pattern":"^(a+)+$"}`, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"`},
		{`{"pattern":"("}`, `"x"`},
		{`{"allOf":[true,false,{"not":{}}]}`, `[]`},
		{`true`, `null`},
		{`{"multipleOf":0}`, `3`},
		{`{"multipleOf":1e-300}`, `1e300`},
		{`[]`, `{}`},
		{`{`, `{`},
		{`{"type":"string","format":"uri"}`, `"::"`},
		{`{"uniqueItems":true}`, `[1,1.0]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, values []byte) {
		_, err := checkAnswer(&fairlead.Request{Kind: fairlead.RequestForm, Schema: schema}, fairlead.Answer{Values: values})
		if err == nil {
			return
		}
		if !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Fatalf("got %v, want invalid", err)
		}
		var text string
		if json.Unmarshal(values, &text) == nil && len(text) > 12 && strings.Contains(string(marshal(err)), text) {
			t.Errorf("the refusal repeats the value: %s", marshal(err))
		}
	})
}
