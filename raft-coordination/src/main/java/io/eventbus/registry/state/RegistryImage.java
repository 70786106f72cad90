package io.eventbus.registry.state;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.TopicConfig;
import java.util.List;
import java.util.Objects;

/**
 * Image of a {@link RegistryState} as plain lists, which a snapshot contains.
 *
 * @param limits the registry's limits
 * @param timeMillis the registry's time in milliseconds
 * @param forgottenUpTo the newest version whose command's result may be forgotten
 */
public record RegistryImage(
    RegistryLimits limits,
    long version,
    long timeMillis,
    long nextNumber,
    List<BusInfo> buses,
    List<TopicConfig> topics,
    List<Revocation> revocations,
    List<ShardInfo> shards,
    List<Remembered> young,
    List<Remembered> old,
    long forgottenUpTo,
    long oldUpTo) {

  /** Copies the lists. */
  public RegistryImage {
    Objects.requireNonNull(limits, "limits");
    buses = List.copyOf(buses);
    topics = List.copyOf(topics);
    revocations = List.copyOf(revocations);
    shards = List.copyOf(shards);
    young = List.copyOf(young);
    old = List.copyOf(old);
  }

  /** Result of a command that may be repeated. */
  public record Remembered(CommandId id, CommandResult result) {
    /** Takes the values. */
    public Remembered {
      Objects.requireNonNull(id, "id");
      Objects.requireNonNull(result, "result");
    }
  }
}
