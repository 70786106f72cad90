package io.eventbus.registry.ratis.admin;

import io.eventbus.raft.RatisGroup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.ratis.forward.CommandService;
import io.eventbus.registry.state.RegistryState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/** This bus as a member of its cluster. Any thread may call any method; nothing waits. */
public interface Member {
  /** Its group; null before it runs. */
  @Nullable RatisGroup group();

  /** Commands on their way to the leader; null before it runs. */
  @Nullable CommandService commands();

  /** Operators' requests on their way to the leader; null before it runs. */
  @Nullable AdministrationService administration();

  /** How the cluster looks from here. */
  MemberView view();

  /** Chooses the voters. */
  VoterPolicy policy();

  /** The registry here. */
  RegistryState state();

  /** One thread, which must not be held up. */
  ScheduledExecutorService timers();

  /** What there is and what is missing, for people. */
  String situation();

  /** The role of this bus, the leader and the members. */
  ClusterStatus status();

  /** The same for operators. */
  RegistryStatus report();

  /** Members, and buses that are registered without being one. */
  List<ClusterMember> members();

  /** A future that completes when the log is applied here up to there; fails after the limit. */
  CompletableFuture<Void> awaitApplied(long index, Duration limit);

  /** Asks a bus that waits for others to join here; the future has its id. */
  CompletableFuture<BusId> invite(Endpoint address, Duration deadline);

  /** From now on this bus does not ask to be admitted again. */
  void stopJoining();
}
