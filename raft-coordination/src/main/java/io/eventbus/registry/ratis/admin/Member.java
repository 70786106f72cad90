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

  /** Returns the forwarding of commands to the leader; null before it runs. */
  @Nullable CommandService commands();

  /** Returns the forwarding of operators' requests to the leader; null before it runs. */
  @Nullable AdministrationService administration();

  /** Returns the cluster as seen from here. */
  MemberView view();

  /** Returns the policy that chooses the voters. */
  VoterPolicy policy();

  /** Returns the registry here. */
  RegistryState state();

  /** Returns the timers, of one thread, which must not be held up. */
  ScheduledExecutorService timers();

  /** Describes the situation and the missing part, for people. */
  String situation();

  /** Returns the role of this bus, the leader and the members. */
  ClusterStatus status();

  /** Returns the status for operators. */
  RegistryStatus report();

  /** Returns members, and buses that are registered without being one. */
  List<ClusterMember> members();

  /**
   * Returns a future that completes when the log is applied here up to there; it fails after the
   * limit.
   */
  CompletableFuture<Void> awaitApplied(long index, Duration limit);

  /** Asks a bus that waits for others to join here; the future has its id. */
  CompletableFuture<BusId> invite(Endpoint address, Duration deadline);

  /** Stops asking to be admitted again. */
  void stopJoining();
}
