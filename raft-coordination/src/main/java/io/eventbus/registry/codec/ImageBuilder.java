package io.eventbus.registry.codec;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.schema.SnapshotBusData;
import io.eventbus.registry.schema.SnapshotEndData;
import io.eventbus.registry.schema.SnapshotHeadData;
import io.eventbus.registry.schema.SnapshotMemoryData;
import io.eventbus.registry.schema.SnapshotRevocationData;
import io.eventbus.registry.schema.SnapshotShardData;
import io.eventbus.registry.schema.SnapshotTopicData;
import io.eventbus.registry.state.RegistryImage;
import io.eventbus.registry.state.RegistryImage.Remembered;
import io.eventbus.registry.state.RegistryLimits;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builder of a snapshot from its entries, no more of each kind than its head allows. */
final class ImageBuilder {
  private @Nullable SnapshotHeadData head;
  private @Nullable RegistryLimits limits;
  private final List<BusInfo> buses = new ArrayList<>();
  private final List<TopicConfig> topics = new ArrayList<>();
  private final List<Revocation> revocations = new ArrayList<>();
  private final List<ShardInfo> shards = new ArrayList<>();
  private final List<Remembered> young = new ArrayList<>();
  private final List<Remembered> old = new ArrayList<>();
  private long entries;
  private boolean complete;

  boolean isComplete() {
    return complete;
  }

  void add(Object entry) throws RegistryFormatException {
    RegistryLimits bounds = limits;
    if (bounds == null) {
      if (!(entry instanceof SnapshotHeadData first)) {
        throw new RegistryFormatException("the first entry is not a snapshot's head");
      }
      head = first;
      limits =
          RegistryCodec.checked(
              () ->
                  new RegistryLimits(
                      first.getMaxBuses(), first.getMaxTopics(), first.getRememberedCommands()));
    } else if (entry instanceof SnapshotBusData bus) {
      room("buses", buses.size(), bounds.maxBuses());
      buses.add(RegistryCodec.checked(() -> Values.value(bus)));
    } else if (entry instanceof SnapshotTopicData topic) {
      room("topics", topics.size(), bounds.maxTopics());
      topics.add(RegistryCodec.checked(() -> Values.value(topic)));
    } else if (entry instanceof SnapshotRevocationData revocation) {
      room("revocations", revocations.size(), RegistryLimits.MAX_REVOCATIONS);
      revocations.add(RegistryCodec.checked(() -> Values.value(revocation)));
    } else if (entry instanceof SnapshotShardData shard) {
      room("shards", shards.size(), ShardInfo.MAX_SHARDS);
      shards.add(RegistryCodec.checked(() -> Values.value(shard)));
    } else if (entry instanceof SnapshotMemoryData memory) {
      List<Remembered> generation = memory.getYoung() ? young : old;
      room("remembered commands", generation.size(), bounds.rememberedCommands());
      generation.add(RegistryCodec.checked(() -> remembered(memory)));
    } else if (entry instanceof SnapshotEndData end) {
      if (end.getEntries() != entries) {
        throw new RegistryFormatException(
            "entries: " + entries + " (expected: " + end.getEntries() + ")");
      }
      complete = true;
    } else {
      throw new RegistryFormatException("a second head");
    }
    entries++;
  }

  RegistryImage build() {
    SnapshotHeadData first = head;
    RegistryLimits bounds = limits;
    if (first == null || bounds == null) {
      throw new IllegalStateException("no entry (expected: a head)");
    }
    return new RegistryImage(
        bounds,
        first.getVersion(),
        first.getTimeMillis(),
        first.getNextNumber(),
        buses,
        topics,
        revocations,
        shards,
        young,
        old,
        first.getForgottenUpTo(),
        first.getOldUpTo());
  }

  private static Remembered remembered(SnapshotMemoryData memory) {
    return new Remembered(
        new CommandId(memory.getBasis(), memory.getHigh(), memory.getLow()),
        Results.value(memory.getResult()));
  }

  private static void room(String what, int size, int max) throws RegistryFormatException {
    if (size >= max) {
      throw new RegistryFormatException(what + ": more than " + max);
    }
  }
}
