package io.eventbus.client;

import java.time.Duration;

/**
 * Answer to a request.
 *
 * @param event the member's event
 * @param member the member's number, for {@link RequestOptions#withMember}
 * @param queued how long the request waited in the bus
 * @param handled how long the member worked, by its own account
 */
public record Response(Event event, long member, Duration queued, Duration handled) {
  /**
   * Returns the payload as text.
   *
   * @return the payload decoded as UTF-8; malformed bytes show as U+FFFD
   */
  public String text() {
    return event.text();
  }
}
