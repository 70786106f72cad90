package io.eventbus.registry;

import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Difference between a snapshot and the one before. Renewed leases are not reported. */
public sealed interface RegistryChange {
  /**
   * Describes the change, in one line for people, for example {@code bus east-1 (4): UP ->
   * DRAINING}.
   *
   * @return the line
   */
  String describe();

  /**
   * Start of a life of a bus.
   *
   * @param bus the bus as it is now
   * @param previous its life before, which is over; null if the bus was not known
   */
  record BusRegistered(BusInfo bus, @Nullable BusInfo previous) implements RegistryChange {
    @Override
    public String describe() {
      String replaced = previous == null ? "" : ", replaces (" + previous.number() + ")";
      return title(bus) + ": registered" + replaced;
    }
  }

  /**
   * New state of a bus; life, number and epoch are the same.
   *
   * @param bus the bus as it is now
   * @param from the state before
   */
  record BusStateChanged(BusInfo bus, BusState from) implements RegistryChange {
    @Override
    public String describe() {
      return title(bus) + ": " + from + " -> " + bus.state();
    }
  }

  /**
   * Removal of a bus.
   *
   * @param bus the bus as it was
   */
  record BusRemoved(BusInfo bus) implements RegistryChange {
    @Override
    public String describe() {
      return title(bus) + ": removed";
    }
  }

  /**
   * Creation of a topic's configuration.
   *
   * @param topic the configuration
   */
  record TopicCreated(TopicConfig topic) implements RegistryChange {
    @Override
    public String describe() {
      return title(topic) + ": created, revision " + topic.revision();
    }
  }

  /**
   * Change of a topic's configuration.
   *
   * @param topic the configuration as it is now
   * @param previous the configuration before
   */
  record TopicChanged(TopicConfig topic, TopicConfig previous) implements RegistryChange {
    @Override
    public String describe() {
      return title(topic) + ": revision " + previous.revision() + " -> " + topic.revision();
    }
  }

  /**
   * Deletion of a topic's configuration.
   *
   * @param topic the configuration as it was
   */
  record TopicDeleted(TopicConfig topic) implements RegistryChange {
    @Override
    public String describe() {
      return title(topic) + ": deleted, revision " + topic.revision();
    }
  }

  /**
   * Revocation of a client's credentials, or of more of them than before.
   *
   * @param revocation the revocation
   */
  record SubjectRevoked(Revocation revocation) implements RegistryChange {
    @Override
    public String describe() {
      return "client "
          + revocation.who()
          + ": revoked what was issued before "
          + Instant.ofEpochMilli(revocation.issuedBeforeMillis());
    }
  }

  /**
   * End of a revocation: lifted, or its time has come.
   *
   * @param revocation the revocation as it was
   */
  record RevocationEnded(Revocation revocation) implements RegistryChange {
    @Override
    public String describe() {
      return "client " + revocation.who() + ": no longer revoked";
    }
  }

  /**
   * Placement of a shard, or a change of its replicas.
   *
   * @param shard the shard as it is now
   * @param previous the shard before; null if it is new
   */
  record ShardPlaced(ShardInfo shard, @Nullable ShardInfo previous) implements RegistryChange {
    @Override
    public String describe() {
      List<ShardReplica> voters = shard.voters();
      return "shard "
          + shard.number()
          + ": version "
          + (previous == null ? "" : previous.version() + " -> ")
          + shard.version()
          + ", voters "
          + voters.stream().map(voter -> voter.bus().value()).collect(Collectors.joining(", "))
          + ", "
          + (shard.replicas().size() - voters.size())
          + " listeners";
    }
  }

  private static String title(BusInfo bus) {
    return "bus " + bus.id() + " (" + bus.number() + ")";
  }

  private static String title(TopicConfig topic) {
    return "topic " + RegistryChecks.quote(topic.name());
  }
}
