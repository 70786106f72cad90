package io.eventbus.registry.codec;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.TimedCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Commands of every kind, most of which make sense for the state that they are for. */
final class RandomCommands {
  private final Random random;
  private final int format;
  private final int kinds;

  RandomCommands(long seed) {
    this(seed, Formats.CURRENT);
  }

  /** Creates commands that a format has. */
  RandomCommands(long seed, int format) {
    this.random = new Random(seed);
    this.format = format;
    this.kinds = format == 1 ? 8 : format == 2 ? 11 : 13;
  }

  TimedCommand next(RegistryState state) {
    long basis = Math.max(0, state.snapshot().version() - random.nextInt(3));
    return new TimedCommand(
        new CommandId(basis, random.nextLong(), random.nextLong()),
        state.snapshot().timeMillis() + random.nextInt(200),
        command(state));
  }

  private RegistryCommand command(RegistryState state) {
    BusId id = new BusId("bus-" + random.nextInt(4));
    BusInfo bus = state.snapshot().bus(id);
    long epoch = bus == null ? 1 : bus.epoch();
    String name = "topic.é" + random.nextInt(4);
    TopicConfig topic = state.snapshot().topic(name);
    long revision = topic == null ? 1 : topic.revision();
    long lease = 100L + random.nextInt(1000);
    BusState[] next = {BusState.UP, BusState.DRAINING, BusState.DOWN};
    return switch (random.nextInt(kinds)) {
      case 0 -> new BusCommand.Register(bus(id), random.nextBoolean() ? epoch : 0, lease);
      case 1 -> new BusCommand.ChangeState(id, epoch, next[random.nextInt(3)]);
      case 2 -> new BusCommand.RenewLease(id, epoch, lease);
      case 3 -> new BusCommand.ExpireLeases();
      case 4 -> new BusCommand.Remove(id, epoch);
      case 5 -> new TopicCommand.Create(spec(name));
      case 6 -> new TopicCommand.Change(spec(name), revision);
      case 7 -> new TopicCommand.Delete(name, revision);
      case 8 ->
          new RevocationCommand.Revoke(
              who(), state.snapshot().timeMillis() + random.nextInt(100), lease);
      case 9 -> new RevocationCommand.Lift(who());
      case 10 -> new RevocationCommand.Expire();
      default -> place(state);
    };
  }

  private ShardCommand place(RegistryState state) {
    int number = 1 + random.nextInt(ShardInfo.MAX_SHARDS);
    ShardInfo shard = state.snapshot().shard(number);
    List<ShardReplica> replicas = new ArrayList<>();
    for (BusInfo bus : state.snapshot().buses()) {
      int storage = bus.description().storage();
      if (storage > 0 && random.nextInt(4) > 0) {
        replicas.add(new ShardReplica(bus.id(), storage, replicas.isEmpty()));
      }
    }
    if (replicas.isEmpty()) {
      replicas.add(new ShardReplica(new BusId("bus-0"), 1, true));
    }
    return new ShardCommand.Place(number, shard == null ? 0 : shard.version(), replicas);
  }

  private AccountSubject who() {
    return new AccountSubject(random.nextBoolean() ? "" : "acme", "ü" + random.nextInt(3));
  }

  private BusDescription bus(BusId id) {
    Endpoint endpoint = random.nextBoolean() ? new Endpoint("::1", 7000) : null;
    return new BusDescription(
        id,
        new BusAddresses(
            List.of("ws://127.0.0.1:8080/bus", "wss://bus.example:443/bus"),
            endpoint,
            null,
            endpoint),
        "zone-" + random.nextInt(3),
        "1.0",
        1,
        format < 3 ? 0 : random.nextInt(3));
  }

  private TopicSpec spec(String name) {
    return new TopicSpec(name, Map.of("retention", "ü" + random.nextInt(100), "empty", ""));
  }
}
