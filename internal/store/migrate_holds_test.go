package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// TestUpgradeNamesAccounts: agents of an older database get the account that a new one would give them.
func TestUpgradeNamesAccounts(t *testing.T) {
	t.Parallel()
	storetest.Backends(t, func(t *testing.T, b storetest.Backend) {
		agents := []fairlead.AgentProfile{
			{Key: "named", Adapter: "acp", Command: []string{"claude"}, Account: "work"},
			{Key: "plays", Adapter: "script", Script: json.RawMessage(`[]`)},
			{Key: "starts", Adapter: "acp", Command: []string{"codex", "--acp"}},
			{Key: "calls", Adapter: "llm", Model: "anthropic/some"},
			{Key: "bare", Adapter: "llm", Model: "some"},
			{Key: "best", Adapter: "auto"},
			{Key: "own", Adapter: "acp", Command: []string{"codex"}, Environment: map[string]string{"KEY": "x"}},
		}
		seed := "INSERT INTO workspaces (key, name, prefix, created_at) VALUES ('w', 'W', 'W', 0);\n"
		for _, a := range agents {
			profile, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			seed += fmt.Sprintf("INSERT INTO agents (workspace, key, profile, version, updated_at) VALUES ('w', '%s', '%s', 1, 0);\n", a.Key, profile)
		}
		files := schema(t, map[string]string{"9001_seed.sql": seed})
		// The migration's own update, on rows as the schema before it had them.
		text := string(files["0002_holds.sql"].Data)
		files["9002_again.sql"] = &fstest.MapFile{Data: []byte(text[strings.Index(text, "-- sqlite only"):])}
		dump, err := b.Open(t, &store.Options{Migrations: files}).Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range agents {
			want := fmt.Sprintf(`"account":%q`, a.AccountRef())
			found := false
			for line := range strings.Lines(string(dump)) {
				found = found || strings.Contains(line, `"key":"`+a.Key+`"`) && strings.Contains(line, want)
			}
			if !found {
				t.Errorf("agent %s is not of the account %s", a.Key, want)
			}
		}
	})
}
