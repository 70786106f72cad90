package io.eventbus.server.admin;

import java.time.Instant;
import java.util.List;

/**
 * A bus in a few words.
 *
 * @param name configured name
 * @param version version of the software
 * @param startedAt when it began to listen
 * @param urls where clients connect to
 * @param transport socket implementation in use, "epoll" or "nio"
 * @param eventLoops threads that serve connections
 * @param connectionLimit client connections that the bus takes
 * @param connectionLimitReason which bound that is, and its value
 */
public record BusSummary(
    String name,
    String version,
    Instant startedAt,
    List<String> urls,
    String transport,
    int eventLoops,
    int connectionLimit,
    String connectionLimitReason) {
  /** Copies the list, so that the record is immutable. */
  public BusSummary {
    urls = List.copyOf(urls);
  }
}
