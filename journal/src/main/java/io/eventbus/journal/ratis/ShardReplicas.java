package io.eventbus.journal.ratis;

import io.eventbus.link.LinkNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Replicas of a shard at several buses.
 *
 * @param links the links of this bus, which outlive the shard
 * @param members all replicas, that of this bus among them: those with which the shard is created.
 *     A replica that is to be admitted later states the present ones, and itself as one that does
 *     not vote. What the log says of the members wins
 */
public record ShardReplicas(LinkNode links, List<ShardMember> members) {
  private static final int MAX_MEMBERS = 1_024;

  /**
   * Checks the members.
   *
   * @throws IllegalArgumentException if there is no voter, two have one id, or an address cannot be
   *     read
   */
  public ShardReplicas {
    members = List.copyOf(members);
    check(members);
  }

  /**
   * Checks members.
   *
   * @throws IllegalArgumentException if there is no voter, two have one id, or an address cannot be
   *     read
   */
  static void check(List<ShardMember> members) {
    members.forEach(ShardMember::socketAddress);
    Set<String> ids = new HashSet<>();
    members.forEach(member -> ids.add(member.id()));
    if (ids.size() != members.size()
        || members.size() > MAX_MEMBERS
        || members.stream().noneMatch(ShardMember::voter)) {
      throw new IllegalArgumentException(
          "members: "
              + members.stream().map(ShardMember::toString).collect(Collectors.joining(", "))
              + " (expected: at most "
              + MAX_MEMBERS
              + " with different ids, at least one of which votes)");
    }
  }

  /**
   * Returns the member with that id.
   *
   * @throws IllegalArgumentException if there is none
   */
  ShardMember member(String id) {
    return members.stream()
        .filter(member -> member.id().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "member: " + id + " (expected: one of " + members + ")"));
  }
}
