package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Bounds of webhooks.
const (
	notifyTimeout = 10 * time.Second
	notifyBatch   = 50
	notifyRetry   = 30 * time.Second
)

// notify sends the webhooks of the action notify, at least once each. A receiver tells a repeat by Fairlead-Delivery and
// a forgery by Fairlead-Signature: the hex HMAC-SHA256 of the body under the home's webhook_key.
func (a *App) notify(ctx context.Context) error {
	signals := a.db.Signals()
	defer signals.Close()
	sender := &http.Client{
		Timeout: notifyTimeout,
		// A redirect would carry the text to somewhere nobody named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for {
		if err := a.notifyAll(ctx, sender); err != nil && ctx.Err() == nil {
			a.log.Error("send webhooks", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-signals.C(store.TopicOutbox):
		case <-time.After(notifyRetry):
		}
	}
}

// notifyAll tries each waiting webhook once, unless another node does. One that fails does not stop the others.
func (a *App) notifyAll(ctx context.Context, sender *http.Client) error {
	rows, err := a.control.PendingNotifies(ctx, notifyBatch)
	if err != nil {
		return err
	}
	var errs []error
	for _, row := range rows {
		if row.Attempts > 0 && time.Since(row.CreatedAt) < backoff(row.Attempts) {
			continue
		}
		taken, err := a.control.TakeNotify(ctx, row)
		if err != nil || !taken {
			errs = append(errs, err)
			continue
		}
		if failed := send(ctx, sender, a.home.hooks, row); failed != nil {
			errs = append(errs, a.control.NotifyFailed(ctx, row, failed.Error()))
			continue
		}
		errs = append(errs, a.control.NotifySent(ctx, row))
	}
	return errors.Join(errs...)
}

// backoff is how long after its creation a webhook that failed n times is tried again: 30 s, doubling.
func backoff(n int) time.Duration { return notifyRetry << (n - 1) }

// send posts one webhook. The error names no part of the address: it may hold a secret.
func send(ctx context.Context, sender *http.Client, key string, row fairlead.Outbox) error {
	var hook struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(row.Payload, &hook); err != nil {
		return errors.New("the webhook cannot be read")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(row.Payload))
	if err != nil {
		return errors.New("the address is not a URL")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(row.Payload)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Fairlead-Delivery", string(row.Op))
	req.Header.Set("Fairlead-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := sender.Do(req)
	if err != nil {
		return errors.New("the receiver cannot be reached")
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)); err != nil {
		return errors.New("the receiver broke off")
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answered %d", resp.StatusCode)
	}
	return nil
}
