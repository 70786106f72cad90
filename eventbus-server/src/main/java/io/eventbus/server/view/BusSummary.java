package io.eventbus.server.view;

import java.time.Instant;
import java.util.List;

/**
 * Summary of a bus.
 *
 * @param urls where clients connect to
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
