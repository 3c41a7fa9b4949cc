package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

func write(t *testing.T, home, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func source(c *Config, key string) string {
	for _, v := range c.Values() {
		if v.Key == key {
			return v.Source
		}
	}
	return "missing"
}

func TestFlagOverEnvironmentOverFileOverDefault(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, "addr: 127.0.0.1:1\nworkers: 2\nlog_level: warn\nhosts: [a.test, b.test]\n")
	c, err := Load(Sources{
		Flags:   map[string]string{"home": home, "workers": "8"},
		Environ: []string{"FAIRLEAD_WORKERS=4", "FAIRLEAD_LOG_LEVEL=debug", "OTHER=1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Addr != "127.0.0.1:1" || c.Workers != 8 || c.LogLevel != "debug" || len(c.Hosts) != 2 || c.Database != filepath.Join(home, "fairlead.db") {
		t.Errorf("got %+v", c)
	}
	for key, want := range map[string]string{"addr": "file ", "workers": "flag --workers", "log_level": "environment FAIRLEAD_LOG_LEVEL", "drain": "default"} {
		if got := source(c, key); !strings.HasPrefix(got, want) {
			t.Errorf("source of %s: got %q, want %q", key, got, want)
		}
	}
}

func TestRefusesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"unknown key":  "adr: 127.0.0.1:1\n",
		"twice":        "addr: 127.0.0.1:1\naddr: 127.0.0.1:2\n",
		"not a map":    "- addr\n",
		"bad address":  "addr: nowhere\n",
		"bad number":   "workers: many\n",
		"no workers":   "workers: 0\n",
		"short memory": "retain_operations: 1\n",
		"no days":      "retain_runs: -1\n",
		"nested value": "addr: {host: x}\n",
		"home in file": "home: /tmp\n",
		"bad database": "database: mysql://x\n",
		"broken yaml":  "addr: [\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			write(t, home, text)
			_, err := Load(Sources{Flags: map[string]string{"home": home}})
			if !fairlead.IsCode(err, fairlead.CodeInvalid) {
				t.Fatalf("got %v, want an invalid setting", err)
			}
		})
	}
}

func TestTokenComesFromTheHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{Flags: map[string]string{"home": home}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Token != "secret" || c.URL != "http://127.0.0.1:7420" {
		t.Errorf("got token %q, url %q", c.Token, c.URL)
	}
	for _, v := range c.Values() {
		if v.Key == "token" && !v.Secret() {
			t.Error("the token is not marked secret")
		}
	}
}

func TestReleaseAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{"0": 0, "1m": time.Minute, "2h": 2 * time.Hour, "59s": -1, "-1h": -1, "soon": -1} {
		c, err := Load(Sources{Flags: map[string]string{"home": t.TempDir(), "release_after": value}})
		if (err != nil) != (want < 0) || err == nil && c.Release != want {
			t.Errorf("%s: got %+v, %v", value, c, err)
		}
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, "retain_runs: 0\nretain_operations: 2\n")
	c, err := Load(Sources{Flags: map[string]string{"home": home}})
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	if want := (Retain{Runs: 0, Events: 30 * day, Operations: 2 * day, Wire: 14 * day}); c.Retain != want {
		t.Errorf("got %+v, want %+v", c.Retain, want)
	}
}
