package io.eventbus.server.security;

import org.jspecify.annotations.Nullable;

/**
 * Decision with the rule behind it. For operators; never shown to clients.
 *
 * @param by the rule that decided; null if none is about it
 * @param reason the rule and where it was written, or why none decided
 */
public record Verdict(boolean allowed, @Nullable Rule by, String reason) {
  static Verdict of(Rule rule) {
    return new Verdict(rule.effect() == Effect.ALLOW, rule, rule.toString());
  }
}
