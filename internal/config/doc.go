// Package config finds the settings of a Fairlead process: flag over environment over config.yaml over default.
//
// It guarantees that every effective value comes with its source, and that an unknown key or an unreadable value is
// refused, never ignored.
//
// It must not know what the settings do, and it opens nothing but the file.
package config
