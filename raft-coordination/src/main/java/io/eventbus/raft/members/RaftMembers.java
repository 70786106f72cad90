package io.eventbus.raft.members;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeer;

/**
 * Peers that vote and that listen.
 *
 * @param listeners the peers that do not vote
 */
public record RaftMembers(List<RaftPeer> voters, List<RaftPeer> listeners) {
  /** Value for unknown members. */
  public static final RaftMembers NONE = new RaftMembers(List.of(), List.of());

  /** Returns whether the bus votes or listens. */
  public boolean contains(String bus) {
    return all().anyMatch(peer -> isCalled(peer, bus));
  }

  /** Returns the members without a bus. */
  public RaftMembers without(String bus) {
    return new RaftMembers(
        voters.stream().filter(peer -> !isCalled(peer, bus)).toList(),
        listeners.stream().filter(peer -> !isCalled(peer, bus)).toList());
  }

  /** Returns the ids of the voters, in order. */
  public List<String> voterIds() {
    return ids(voters);
  }

  /** Returns the ids of the listeners, in order. */
  public List<String> listenerIds() {
    return ids(listeners);
  }

  /** Returns the address of a member's links; empty for none. */
  public String address(String bus) {
    return all()
        .filter(peer -> isCalled(peer, bus))
        .map(RaftPeer::getAddress)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse("");
  }

  private Stream<RaftPeer> all() {
    return Stream.concat(voters.stream(), listeners.stream());
  }

  private static boolean isCalled(RaftPeer peer, String bus) {
    return peer.getId().toString().equals(bus);
  }

  private static List<String> ids(List<RaftPeer> peers) {
    return peers.stream().map(peer -> peer.getId().toString()).sorted().toList();
  }
}
