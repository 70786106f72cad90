package io.eventbus.registry;

import java.util.Objects;

/**
 * Rest of the roles that a bus still had in its cluster when it had handed over what it could.
 *
 * @param leads whether it leads; the others then elect another leader after it is gone
 * @param votes whether it has a vote; a stopped voter makes the majority smaller by one until it
 *     comes back or is replaced
 * @param member whether it is a member
 * @param detail why something was not handed over, for people; empty if everything was
 */
public record DepartureReport(boolean leads, boolean votes, boolean member, String detail) {
  /**
   * Takes the values.
   *
   * @param leads as above
   * @param votes as above
   * @param member as above
   * @param detail as above
   */
  public DepartureReport {
    Objects.requireNonNull(detail, "detail");
  }
}
