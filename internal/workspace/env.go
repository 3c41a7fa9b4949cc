package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Markers in the environment of every process started here. They find what outlived a server.
const (
	EnvExecution = "FAIRLEAD_EXECUTION"
	EnvHome      = "FAIRLEAD_HOME_ID"
	envProcess   = "FAIRLEAD_PROCESS" // one tree; an execution may have several: an agent, and each shell of its tools
	envWarden    = "FAIRLEAD_WARDEN"
)

// allowed are the variables that a process gets from ours. Everything else, keys above all, needs to be named: agents
// run commands that a stranger's text may have suggested.
func allowed() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	}
}

// environment builds the environment of a process: the allowlist and the names in inherit out of ours, then extra
// ("NAME=value", later ones win), then the markers, which nothing overrides.
func environment(inherit, extra []string, execution, home, mark string) []string {
	vars := map[string]string{}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(allowed(), name) || strings.HasPrefix(name, "LC_") || slices.Contains(inherit, name) {
			vars[name] = value
		}
	}
	for _, kv := range extra {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			vars[name] = value
		}
	}
	delete(vars, envWarden)
	vars[EnvExecution], vars[EnvHome], vars[envProcess] = execution, home, mark
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// resolve finds the program of a command on the PATH of its own environment.
func resolve(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if executable(name) {
			return name, nil
		}
		return "", notFound(name)
	}
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, d := range filepath.SplitList(list) {
			if p := filepath.Join(d, name); filepath.IsAbs(p) && executable(p) {
				return p, nil
			}
		}
	}
	return "", notFound(name)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func notFound(name string) error {
	return &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: "command " + name + " was not found or may not be executed"}
}
