package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The files of the demo's repository: a price calculation with a fault that its own test shows.
const (
	demoSource = `# price PRICE PERCENT prints the price after a discount.
price=$1
percent=$2
echo $((price + price * percent / 100))
`
	demoTest = `# Runs the checks of price.sh; exits 1 when one fails.
failed=0
check() {
  got=$(sh price.sh "$1" "$2")
  if [ "$got" = "$3" ]; then echo "ok   price $1 less $2% is $3"; else echo "FAIL price $1 less $2%: got $got, want $3"; failed=1; fi
}
check 200 10 180
check 50 0 50
exit $failed
`
)

// demoRepository makes a small real git repository with a failing test in dir, which must not exist or be empty.
func demoRepository(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	for name, text := range map[string]string{"price.sh": demoSource, "test.sh": demoTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write repository: %w", err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Fairlead Demo"}, {"config", "user.email", "demo@localhost"},
		{"add", "-A"}, {"commit", "-q", "-m", "price: a discount, and its test"},
	} {
		if _, err := git(ctx, dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// git runs git in a directory, without the user's own settings.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}
