package io.eventbus.client;

import java.time.Duration;

/**
 * The answer to a request.
 *
 * @param event what the member has answered
 * @param member the member's number, for {@link RequestOptions#withMember}
 * @param queued how long the request waited in the bus
 * @param handled how long the member worked, as it says
 */
public record Response(Event event, long member, Duration queued, Duration handled) {
  /**
   * Returns the payload as text.
   *
   * @return the payload decoded as UTF-8; what is no UTF-8 shows as U+FFFD
   */
  public String text() {
    return event.text();
  }
}
