package io.eventbus.loadtest.report;

import java.util.List;

/**
 * What one invocation of any kind found, as a document shows it.
 *
 * @param title what was measured
 * @param startedAt ISO 8601, UTC
 * @param command as it was typed; empty if it is not known
 * @param machine where it ran
 * @param systems name and version of each
 * @param remarks what one has to know to read the tables
 * @param sections the tables
 * @param targets what was to be reached
 */
public record Chapter(
    String title,
    String startedAt,
    String command,
    Machine machine,
    String systems,
    List<String> remarks,
    List<Section> sections,
    List<SpeedTarget> targets) {
  /** Takes copies. */
  public Chapter {
    remarks = List.copyOf(remarks);
    sections = List.copyOf(sections);
    targets = List.copyOf(targets);
  }
}
