package io.eventbus.loadtest.report;

import java.util.List;

/**
 * Findings of one invocation, as a document shows them.
 *
 * @param command as it was typed; empty if it is not known
 * @param machine where it ran
 * @param systems each with its version
 */
public record Chapter(
    String title,
    String startedAt,
    String command,
    Machine machine,
    List<String> systems,
    List<String> remarks,
    List<Section> sections,
    List<SpeedTarget> targets) {
  /** Takes copies. */
  public Chapter {
    systems = List.copyOf(systems);
    remarks = List.copyOf(remarks);
    sections = List.copyOf(sections);
    targets = List.copyOf(targets);
  }
}
