package io.eventbus.server.replica;

import io.eventbus.base.StageFailures;
import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.placement.GroupMembers;
import io.eventbus.registry.placement.PlacementStep;
import io.eventbus.registry.placement.ReplicaId;
import io.eventbus.registry.placement.ShardCondition;
import io.eventbus.registry.placement.ShardPlacement;
import io.eventbus.server.replica.PlacementMessages.Answer;
import io.eventbus.server.replica.PlacementMessages.Outcome;
import io.eventbus.server.replica.PlacementMessages.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Duty of the bus that leads a shard: the registry's placement follows the buses, and the members
 * of the Raft group follow the registry. Each look decides anew from what there is then, so it may
 * end at any point, and another bus goes on. Confined to its executor.
 */
final class PlacementDuty {
  private static final Logger LOG = LoggerFactory.getLogger(PlacementDuty.class);

  /** Maximum of committed entries that a replica lacks that may get a vote: less than a second. */
  static final long MAX_BEHIND = 1_000;

  private static final Duration DEADLINE = Duration.ofSeconds(3);

  /** Time for which a replica is let in that asked: it asks again each second. */
  private static final long GUEST_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Pause after a change that failed, so that the log of this process tells each attempt. */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Address at which no member can be reached. */
  private static final String NO_ADDRESS = "unknown.invalid:1";

  /** Shard of this bus. */
  interface Shard {
    /** Returns its state; null while there is none. */
    @Nullable ShardStatus status();

    /** Changes its members, where it leads. */
    CompletableFuture<Void> changeMembers(List<ShardMember> members);
  }

  /** Replica that asked to follow. */
  private record Guest(String address, long askedNanos) {}

  private final String self;
  private final int number;
  private final Registry registry;
  private final Shard shard;
  private final Duration replaceAfter;
  private final Executor executor;
  private final LongSupplier nanoTime;

  private final Map<ReplicaId, Guest> guests = new HashMap<>();
  private final Map<ReplicaId, String> addresses = new HashMap<>();
  private long term = -1;
  private boolean reading;
  private boolean changing;
  private long pausedUntil;

  /**
   * Creates the duty.
   *
   * @param self the id of the replica of this bus
   * @param number the number of the shard
   */
  PlacementDuty(
      String self,
      int number,
      Registry registry,
      Shard shard,
      Duration replaceAfter,
      Executor executor,
      LongSupplier nanoTime) {
    this.self = self;
    this.number = number;
    this.registry = registry;
    this.shard = shard;
    this.replaceAfter = replaceAfter;
    this.executor = executor;
    this.nanoTime = nanoTime;
    pausedUntil = nanoTime.getAsLong();
  }

  /** Takes note of the addresses of replicas, which buses may have that are not registered. */
  void learn(List<ShardMember> members) {
    members.forEach(member -> addresses.put(id(member.id()), member.address()));
  }

  private static ReplicaId id(String member) {
    return new ReplicaId(new BusId(ShardMember.bus(member)), ShardMember.generation(member));
  }

  /** Returns the state of the shard if this bus leads it. */
  private @Nullable ShardStatus led() {
    ShardStatus status = shard.status();
    if (status == null || !self.equals(status.leader())) {
      guests.clear();
      term = -1;
      return null;
    }
    long now = nanoTime.getAsLong();
    if (term != status.term()) {
      term = status.term();
      // Those that the leader before has let in ask again.
      for (ReplicaId listener : members(status).listeners()) {
        guests.putIfAbsent(listener, new Guest("", now));
      }
    }
    guests.values().removeIf(guest -> now - guest.askedNanos() > GUEST_NANOS);
    return status;
  }

  private static GroupMembers members(ShardStatus status) {
    Set<ReplicaId> voters = new HashSet<>();
    Set<ReplicaId> listeners = new HashSet<>();
    for (ShardStatus.Member member : status.members()) {
      (member.voter() ? voters : listeners).add(id(member.id()));
    }
    return new GroupMembers(voters, listeners);
  }

  private ShardCondition condition(
      RegistrySnapshot snapshot, ShardInfo placed, ShardStatus status) {
    Set<BusId> gone = new HashSet<>(ShardCondition.away(snapshot, placed, replaceAfter.toMillis()));
    for (ReplicaId guest : guests.keySet()) {
      if (placed.replicas().stream()
          .anyMatch(
              replica ->
                  replica.bus().equals(guest.bus())
                      && replica.generation() != guest.generation())) {
        // The bus is there, with other files.
        gone.add(guest.bus());
      }
    }
    return new ShardCondition(
        members(status).voters(),
        status.members().stream()
            .filter(
                member ->
                    member.behind() >= 0 && member.behind() <= MAX_BEHIND && !member.needsCopy())
            .map(member -> id(member.id()))
            .collect(Collectors.toSet()),
        gone);
  }

  /** Looks whether something is to be done, and begins it. */
  void look() {
    ShardStatus status = led();
    RegistrySnapshot snapshot = registry.snapshot();
    ShardInfo placed = snapshot.shard(number);
    if (status == null
        || placed == null
        || reading
        || nanoTime.getAsLong() - pausedUntil < 0
        || !isDue(snapshot, placed, status)) {
      return;
    }
    reading = true;
    var unused =
        registry
            .linearizableRead(DEADLINE)
            .thenComposeAsync(this::act, executor)
            .whenCompleteAsync(
                (nothing, error) -> {
                  reading = false;
                  if (error != null) {
                    pause("The placement of the replicas was not changed", error);
                  }
                },
                executor);
  }

  private boolean isDue(RegistrySnapshot snapshot, ShardInfo placed, ShardStatus status) {
    GroupMembers now = members(status);
    return (!changing && !now.next(snapshot, placed, guests.keySet()).equals(now))
        || ShardPlacement.next(snapshot, placed, condition(snapshot, placed, status)) != null;
  }

  private void pause(String what, Throwable error) {
    pausedUntil = nanoTime.getAsLong() + PAUSE_NANOS;
    LOG.info("{}: {}", what, StageFailures.unwrap(error).toString());
  }

  /** Acts by a snapshot with all that is committed: an older one could take a change back. */
  private CompletableFuture<Void> act(RegistrySnapshot snapshot) {
    ShardStatus status = led();
    ShardInfo placed = snapshot.shard(number);
    if (status == null || placed == null) {
      return CompletableFuture.completedFuture(null);
    }
    if (!changing) {
      change(snapshot, placed, status);
    }
    ShardCommand.Place next =
        ShardPlacement.next(snapshot, placed, condition(snapshot, placed, status));
    return next == null ? CompletableFuture.completedFuture(null) : submit(next);
  }

  private void change(RegistrySnapshot snapshot, ShardInfo placed, ShardStatus status) {
    GroupMembers now = members(status);
    GroupMembers next = now.next(snapshot, placed, guests.keySet());
    if (next.equals(now)) {
      return;
    }
    List<ShardMember> members = new ArrayList<>();
    for (ReplicaId voter : next.voters()) {
      add(members, snapshot, voter, true);
    }
    for (ReplicaId listener : next.listeners()) {
      add(members, snapshot, listener, false);
    }
    changing = true;
    var unused =
        shard
            .changeMembers(members)
            .whenCompleteAsync(
                (nothing, error) -> {
                  changing = false;
                  if (error != null) {
                    pause("The members of the journals' replicas were not changed", error);
                  } else {
                    look();
                  }
                },
                executor);
  }

  /** Adds a member; the bus of one without an address was removed, and does not come back. */
  private void add(
      List<ShardMember> members, RegistrySnapshot snapshot, ReplicaId member, boolean voter) {
    BusInfo bus = snapshot.bus(member.bus());
    Endpoint registered = bus == null ? null : bus.addresses().peers();
    Guest guest = guests.get(member);
    String address =
        guest != null && !guest.address().isEmpty()
            ? guest.address()
            : registered != null
                ? registered.toString()
                : addresses.getOrDefault(member, NO_ADDRESS);
    members.add(
        new ShardMember(ShardMember.id(member.bus().value(), member.generation()), address, voter));
  }

  private CompletableFuture<Void> submit(ShardCommand.Place place) {
    LOG.info(
        "The journals' replicas are placed anew: vote {}, follow {}",
        shown(place, true),
        shown(place, false));
    return registry
        .submit(place, DEADLINE)
        .thenAccept(
            result -> {
              if (result instanceof CommandResult.Refused refused) {
                // The registry has changed meanwhile: the next look decides anew.
                LOG.info("The placement was refused: {}", refused.message());
              }
            })
        .toCompletableFuture();
  }

  private static List<String> shown(ShardCommand.Place place, boolean voters) {
    return place.replicas().stream()
        .filter(replica -> replica.voter() == voters)
        .map(replica -> ShardMember.id(replica.bus().value(), replica.generation()))
        .toList();
  }

  /**
   * Answers a request.
   *
   * @param from the bus that sends it
   */
  CompletableFuture<Answer> answer(String from, Request request) {
    ShardStatus status = led();
    if (status == null) {
      return answered(Outcome.NOT_LEADING, "");
    }
    return request.operation() == PlacementMessages.Operation.FOLLOW
        ? follow(from, request, status)
        : carryOut(request);
  }

  private static CompletableFuture<Answer> answered(Outcome outcome, String detail) {
    return CompletableFuture.completedFuture(new Answer(outcome, detail));
  }

  private CompletableFuture<Answer> follow(String from, Request request, ShardStatus status) {
    if (!request.bus().equals(from) || request.generation() < 1) {
      return answered(Outcome.REFUSED, "bus: " + request.bus() + " (expected: " + from + ")");
    }
    ReplicaId replica = new ReplicaId(new BusId(request.bus()), request.generation());
    GroupMembers now = members(status);
    if (now.voters().contains(replica)) {
      return answered(Outcome.DONE, "it votes");
    }
    boolean known = now.listeners().contains(replica) || guests.containsKey(replica);
    if (!known && guests.size() + status.members().size() >= ShardInfo.MAX_REPLICAS) {
      return answered(
          Outcome.REFUSED,
          "the journals have "
              + status.members().size()
              + " replicas (expected: at most "
              + ShardInfo.MAX_REPLICAS
              + ")");
    }
    guests.put(replica, new Guest(request.address(), nanoTime.getAsLong()));
    look();
    return now.listeners().contains(replica)
        ? answered(Outcome.DONE, "it follows")
        : answered(Outcome.WAITING, "it is let in");
  }

  private CompletableFuture<Answer> carryOut(Request request) {
    if (reading) {
      return answered(Outcome.WAITING, "another change is under way");
    }
    reading = true;
    return registry
        .linearizableRead(DEADLINE)
        .toCompletableFuture()
        .thenComposeAsync(snapshot -> carryOut(request, snapshot), executor)
        .whenCompleteAsync(
            (answer, error) -> {
              reading = false;
              look();
            },
            executor);
  }

  private CompletableFuture<Answer> carryOut(Request request, RegistrySnapshot snapshot) {
    ShardStatus status = led();
    ShardInfo placed = snapshot.shard(number);
    if (status == null || placed == null) {
      return answered(Outcome.NOT_LEADING, "");
    }
    ShardCondition condition = condition(snapshot, placed, status);
    BusId bus = new BusId(request.bus());
    PlacementStep step =
        switch (request.operation()) {
          case MOVE_VOTE -> ShardPlacement.moveVote(snapshot, placed, condition, bus, false);
          case LEAVE -> ShardPlacement.moveVote(snapshot, placed, condition, bus, true);
          case REMOVE -> ShardPlacement.remove(snapshot, placed, condition, bus);
          case FOLLOW -> throw new AssertionError("answered before");
        };
    String refusal = step.refusal();
    ShardCommand.Place place = step.place();
    if (refusal != null) {
      return answered(Outcome.REFUSED, refusal);
    }
    if (place != null) {
      return submit(place)
          .thenApply(nothing -> new Answer(Outcome.WAITING, "the registry has the change"));
    }
    return step.done() ? answered(Outcome.DONE, "") : answered(Outcome.WAITING, step.waitsFor());
  }
}
