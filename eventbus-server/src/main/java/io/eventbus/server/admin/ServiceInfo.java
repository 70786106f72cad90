package io.eventbus.server.admin;

import java.util.List;

/**
 * A service that has members at this bus or at others.
 *
 * @param window calls that its members may be given at once, together
 * @param outstanding calls that its members have and have not answered
 * @param buses the other buses where members take its calls, by name
 */
public record ServiceInfo(
    String name, int members, int window, int outstanding, int queued, List<String> buses) {
  /** Copies the list, so that the record is immutable. */
  public ServiceInfo {
    buses = List.copyOf(buses);
  }
}
