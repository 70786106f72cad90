package io.eventbus.registry.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Check of the versions in the answers, over all topics at once.
 *
 * <p>Every command that was answered has a version of its own, later than everything that had been
 * answered before the command was made; a read's version is not behind that. A token stands for one
 * revision, wherever it is seen, and a command that was certainly not applied is seen nowhere.
 */
public final class VersionOrder {
  private final List<String> findings = new ArrayList<>();
  private final long origin;

  private VersionOrder(long origin) {
    this.origin = origin;
  }

  /** Checks a history. */
  public static List<String> check(List<Operation> operations) {
    VersionOrder order = new VersionOrder(Operation.origin(operations));
    order.checkTimes(operations);
    order.checkVersions(operations);
    order.checkTokens(operations);
    return order.findings;
  }

  private static long version(Operation operation) {
    Outcome outcome = operation.outcome();
    if (outcome instanceof Outcome.Applied applied) {
      return applied.version();
    }
    if (outcome instanceof Outcome.Refused refused) {
      return refused.version();
    }
    return outcome instanceof Outcome.Value value ? value.version() : -1;
  }

  private void checkTimes(List<Operation> operations) {
    List<Operation> answered = operations.stream().filter(o -> version(o) >= 0).toList();
    List<Operation> byInvocation =
        answered.stream().sorted(Comparator.comparingLong(Operation::invoked)).toList();
    List<Operation> byReturn =
        answered.stream().sorted(Comparator.comparingLong(Operation::returned)).toList();
    Operation newest = null;
    int returned = 0;
    for (Operation operation : byInvocation) {
      while (returned < byReturn.size()
          && byReturn.get(returned).returned() < operation.invoked()) {
        Operation done = byReturn.get(returned++);
        newest = newest == null || version(done) > version(newest) ? done : newest;
      }
      boolean read = operation.kind() == Operation.Kind.READ;
      if (newest != null && version(operation) < version(newest) + (read ? 0 : 1)) {
        findings.add(
            "an answer is older than what was answered before it was asked for:\n    "
                + newest.describe(origin)
                + "\n    "
                + operation.describe(origin));
      }
    }
  }

  private void checkVersions(List<Operation> operations) {
    Map<Long, Operation> byVersion = new HashMap<>();
    for (Operation operation : operations) {
      if (operation.kind() == Operation.Kind.READ || version(operation) < 0) {
        continue;
      }
      Operation other = byVersion.put(version(operation), operation);
      if (other != null) {
        findings.add(
            "two commands have one version:\n    "
                + other.describe(origin)
                + "\n    "
                + operation.describe(origin));
      }
    }
  }

  private void checkTokens(List<Operation> operations) {
    Map<String, Operation> writers = new HashMap<>();
    Map<String, Long> revisions = new HashMap<>();
    for (Operation operation : operations) {
      if (!operation.token().isEmpty()) {
        writers.put(operation.token(), operation);
        if (operation.outcome() instanceof Outcome.Applied applied) {
          revisions.put(operation.token(), applied.version());
        }
      }
    }
    Set<String> told = new HashSet<>();
    for (Operation operation : operations) {
      if (!(operation.outcome() instanceof Outcome.Value value) || value.token().isEmpty()) {
        continue;
      }
      Operation writer = writers.get(value.token());
      if (writer == null && told.add(value.token())) {
        findings.add("nobody wrote what was read:\n    " + operation.describe(origin));
      } else if (writer != null
          && (writer.outcome() instanceof Outcome.NotApplied
              || writer.outcome() instanceof Outcome.Refused)
          && told.add(value.token())) {
        findings.add(
            "what was not applied was read:\n    "
                + writer.describe(origin)
                + "\n    "
                + operation.describe(origin));
      }
      Long revision = revisions.putIfAbsent(value.token(), value.revision());
      if (revision != null && revision != value.revision() && told.add(value.token())) {
        findings.add(
            "one command has two revisions, "
                + revision
                + " and "
                + value.revision()
                + ":\n    "
                + (writer == null ? "" : writer.describe(origin) + "\n    ")
                + operation.describe(origin));
      }
    }
  }
}
