package io.eventbus.server.view;

import java.util.List;

/**
 * Service that has members at this bus or at peers.
 *
 * @param window calls that its members may be given at once, together
 * @param outstanding calls that its members have and have not answered
 * @param buses peers where members take its calls, by name
 */
public record ServiceInfo(
    String name, int members, int window, int outstanding, int queued, List<String> buses) {
  /** Copies the list, so that the record is immutable. */
  public ServiceInfo {
    buses = List.copyOf(buses);
  }
}
